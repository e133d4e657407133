// Numbers that people type, with the separators of their language: read as meant, or refused in words.

const POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** What stands between groups of three digits: a space of any kind, or an apostrophe. */
const GROUPS = /^(\d{1,3})(?:([ \u00a0\u2009\u202f'’])\d{3})(?:\2\d{3})*(?=[.,]|$)/;

/** A text in which only signs, digits, separators and an exponent are left, or null. */
function plain(text) {
  const found = text.trim().replace(/[−–]/g, "-").replace(/\s*[×x*·]\s*10\^?([⁻-]?)([⁰¹²³⁴⁵⁶⁷⁸⁹]+|\d+)$/, (_, sign, power) =>
    `e${sign ? "-" : ""}${[...power].map((each) => (POWERS.includes(each) ? POWERS.indexOf(each) : each)).join("")}`);
  const parts = found.match(/^([+-]?)(.*?)(e[+-]?\d+)?$/i);
  const [, sign, figures, exponent = ""] = parts;
  const joined = GROUPS.test(figures) ? figures.replace(/[ \u00a0\u2009\u202f'’]/g, "") : figures;
  return /^[\d.,]+$/.test(joined) && /\d/.test(joined) ? { sign: sign.replace("+", ""), figures: joined, exponent } : null;
}

/** Whether a mark can only stand between thousands: there are several, each with three digits after it. */
function grouped(figures, mark) {
  const [first, ...rest] = figures.split(mark);
  return /^[1-9]\d{0,2}$/.test(first) && rest.every((each) => /^\d{3}$/.test(each));
}

/** What the figures of a number may mean in decimal notation: none, one, or two readings. */
function readings(figures) {
  const [commas, stops] = [",", "."].map((mark) => figures.split(mark).length - 1);
  if (commas && stops) {
    const [group, point] = figures.lastIndexOf(",") < figures.lastIndexOf(".") ? [",", "."] : [".", ","];
    const [whole, ...after] = figures.split(point);
    return after.length === 1 && grouped(whole, group) ? [`${whole.replaceAll(group, "")}.${after[0]}`] : [];
  }
  const mark = commas ? "," : ".";
  if (commas + stops > 1) return grouped(figures, mark) ? [figures.replaceAll(mark, "")] : [];
  if (!commas) return [figures];
  return grouped(figures, ",") ? [figures.replace(",", "."), figures.replace(",", "")] : [figures.replace(",", ".")];
}

/**
 * The number that somebody typed as `what`. A decimal comma is read as one, and so are thousands in groups;
 * where both are possible, as in 1,250, nobody guesses: the error names both. `wanted` says what would do.
 */
export function numberFrom(text, what, wanted = "enter a number.") {
  const found = plain(text);
  const values = found ? readings(found.figures).map((each) => Number(`${found.sign}${each}${found.exponent}`)) : [];
  if (!values.length || !values.every(Number.isFinite)) throw new Error(`${what}: ${wanted}`);
  if (values.length === 1) return values[0];
  const [one, other] = values.map((each) => String(each).replace("-", "−"));
  throw new Error(`${what}: “${text.trim()}” may mean ${one} or ${other}: write it without the comma.`);
}

/** Read what is in a field; if it is refused, the field is where to go on. */
export function attempt(input, read) {
  try {
    return read();
  } catch (error) {
    input.focus();
    throw error;
  }
}

/** The number in a field. */
export function numberIn(input, what, wanted) {
  return attempt(input, () => numberFrom(input.value, what, wanted));
}
