// Numbers, times and points as people read them: every number on the page is written here.

const MINUS = "−";
const LOCALE = "en-GB"; // the language of the page
const THIN = "\u202f"; // between thousands; does not break
const LARGE = 1e9; // from here on, and below SMALL, with a power of ten
const SMALL = 1e-4;
const DIGITS = 4; // of a number of which nobody knows how exact it is
const MOST = 12; // digits that are worth reading at all

/** The power of ten of the leading digit. */
function power(value) {
  return value === 0 ? 0 : Number(value.toExponential().split("e")[1]);
}

/** The power of ten of the last digit that an uncertainty deserves: its second one. */
function placeOf(std) {
  return power(Number(std.toPrecision(2))) - 1;
}

/** Thin spaces between thousands, and a real minus sign. */
function dressed(text) {
  const [whole, fraction] = text.split(".");
  const spaced = whole.replace(/\B(?=(\d{3})+$)/g, THIN).replace("-", MINUS);
  return fraction === undefined ? spaced : `${spaced}.${fraction}`;
}

/** A value to the place of a power of ten; `padded` with zeros up to there, or without zeros at its end. */
function fixed(value, place, padded) {
  const unit = 10 ** place;
  const text = place > 0 ? String(Math.round(value / unit) * unit) : value.toFixed(Math.min(-place, 20));
  const kept = padded || !text.includes(".") ? text : text.replace(/\.?0+$/, "");
  return dressed(kept.replace(/^-(?=0*\.?0*$)/, ""));
}

/** The factor `×10⁶`. */
function times(exponent) {
  return `×10${[...String(exponent)].map((each) => (each === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[each])).join("")}`;
}

/** Whether a size is written with a power of ten. */
function extreme(size) {
  return size >= LARGE || (size > 0 && size < SMALL);
}

function special(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (typeof value !== "number") return String(value);
  return value > 0 ? "∞" : `${MINUS}∞`;
}

function written(value, place, padded = false) {
  if (!extreme(Math.abs(value))) return fixed(value, place, padded);
  const exponent = power(value);
  return `${fixed(value / 10 ** exponent, Math.min(0, place - exponent), padded)}${times(exponent)}`;
}

/** A text with its unit: `84.2 °C`. */
export function withUnit(text, unit) {
  return unit ? `${text}\u00a0${unit}` : text;
}

/**
 * A number: four digits, or more if what is known of its uncertainty deserves them; those before the decimal point are all
 * there, and no zeros are made up at its end.
 */
export function number(value, std = null) {
  if (typeof value !== "number" || !Number.isFinite(value)) return special(value);
  if (Number.isInteger(value) && Math.abs(value) < LARGE) return count(value);
  const place = power(value) - DIGITS + 1;
  const deserved = std > 0 && Number.isFinite(std) ? Math.min(place, placeOf(std)) : place;
  const shown = extreme(Math.abs(value)) ? deserved : Math.min(deserved, 0);
  return written(value, Math.max(shown, power(value) - MOST + 1));
}

/** A number that somebody chose, such as a limit or a bound: as it was given. */
export function chosen(value) {
  return typeof value === "number" && Number.isFinite(value) ? written(value, power(value) - MOST + 1) : special(value);
}

/** A number on a scale of that length: to a ten-thousandth of it. */
export function onScale(value, length) {
  if (typeof value !== "number" || !Number.isFinite(value) || !(length > 0)) return number(value);
  return written(value, Math.min(0, Math.ceil(Math.log10(length)) - DIGITS));
}

/** Whether all numbers of a range are so small that they are written with a power of ten. */
export function isSmall(low, high) {
  const size = Math.max(Math.abs(low), Math.abs(high));
  return size > 0 && size < 10 * SMALL;
}

/** How long the labels of an axis from `low` to `high` are, in characters. */
export function labelLength(low, high) {
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (!Number.isFinite(size) || !(high > low)) return 0;
  if (extreme(size) || isSmall(low, high)) return 9; // 0.5×10⁻¹⁰
  return Math.max(...[low, high].map((end) => fixed(end, Math.min(0, power((high - low) / 5)), true).length));
}

/** How far the noise moves a value: as it was told, else as the model has it. */
export function deviation(event) {
  const variance = event?.told_variance ?? event?.noise_variance;
  return variance > 0 ? Math.sqrt(variance) : null;
}

/** An integer with thin spaces between thousands. */
export function count(value) {
  return dressed(String(Math.round(value)));
}

/** `1.23 ± 0.04`, both to the second digit of the deviation; `(1.2346 ± 0.0063)×10⁹` where they are large or small. */
export function plusMinus(mean, std, unit = "") {
  if (typeof mean !== "number" || !Number.isFinite(mean)) return special(mean);
  if (!(std > 0) || !Number.isFinite(std)) return withUnit(number(mean), unit);
  const size = Math.max(Math.abs(mean), std);
  const place = placeOf(std);
  if (place < power(size) - MOST + 1) return withUnit(`${written(mean, power(size) - MOST + 1, true)} ± ${number(std)}`, unit); // too exact to write out
  if (!extreme(size)) return withUnit(`${fixed(mean, place, true)} ± ${fixed(std, place, true)}`, unit);
  const exponent = power(size);
  const [a, b] = [mean, std].map((each) => fixed(each / 10 ** exponent, place - exponent, true));
  return withUnit(`(${a} ± ${b})${times(exponent)}`, unit);
}

/** A probability or a weight. */
export function percent(value) {
  const hundred = 100 * value;
  return hundred > 0 && hundred < 0.1 ? "< 0.1 %" : `${hundred.toFixed(1)} %`;
}

/** How probable something is that one may rely on: what is not certain is not called 100 %. */
export function probability(value) {
  const text = value < 1 && value > 0.999 ? "> 99.9 %" : percent(value);
  return text.replaceAll(" ", "\u00a0");
}

/** A length of time in its two leading units. */
export function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  return `${Math.floor(whole / 86400)} d ${Math.floor((whole % 86400) / 3600)} h`;
}

/** How long ago, in one unit. */
export function ago(at, now = Date.now() / 1000) {
  if (at === null || at === undefined) return "never";
  const seconds = now - at;
  if (seconds < 2) return "just now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
}

/** The time of day, with the date if it was another day. */
export function clock(at) {
  const then = new Date(at * 1000);
  const time = then.toLocaleTimeString(LOCALE, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
  if (then.toDateString() === new Date().toDateString()) return time;
  return `${then.toLocaleDateString(LOCALE, { day: "numeric", month: "short" })} ${time}`;
}

const [EARLIEST, LATEST] = [978307200, 4102444800]; // 2001 and 2100, in seconds since 1970

/** Whether a time that somebody told is meant as a date, as `windvane.moments` has it. */
export function isDate(time) {
  return time >= EARLIEST && time < LATEST;
}

/** A date that was told, in UTC: `2026-11-01 08:00:00`. */
export function moment(time) {
  return new Date(1000 * time).toISOString().slice(0, 19).replace("T", " ");
}

/** When something happened, as `windvane.moments` has it: the time if one was told, and the number of the step. */
export function place(step, time) {
  return told(time) && time !== step ? `${timeText(time)} (step ${step})` : `step ${step}`;
}

/** A time as it was told. */
export function timeText(time) {
  return isDate(time) ? `${moment(time)} UTC` : `time ${Number(time.toPrecision(10))}`;
}

function told(time) {
  return typeof time === "number" && Number.isFinite(time);
}

/** The caller’s time at a record, null if nobody told one: as `Record.clock` has it. */
export function clockOf({ seq, step, time, event }) {
  const found = event?.time ?? null;
  if ((time ?? null) !== null || found === null || (step ?? null) === null) return found;
  return step <= found && found <= Math.max(step, seq) && Number.isInteger(found) ? null : found;
}

/** A sentence in parts, its steps by so many earlier, and without times unless some were told: as `NamedSteps` has it. */
export function sentenceText(parts, earlier, timed) {
  return parts.map((part) => {
    if (typeof part === "string") return part;
    const [first, last] = [part.step, part.last].map((step) => (step === null ? null : Math.max(1, step - earlier)));
    if (last === null) return place(first, timed ? part.time : null);
    const times = timed && told(part.time) && told(part.last_time) && (part.time !== first || part.last_time !== last);
    return times ? `${timeText(part.time)} to ${timeText(part.last_time)} (steps ${first} to ${last})` : `steps ${first} to ${last}`;
  }).join("");
}

/** A text that is not broken between a number and what belongs to it: `95 %`, `1.5 ± 0.2`. */
export function unbroken(text) {
  return text.replace(/(?<=\d) %/g, "\u00a0%").replace(/ ± /g, "\u00a0±\u00a0");
}

/** The date alone. */
export function date(at) {
  return new Date(at * 1000).toLocaleDateString(LOCALE, { day: "numeric", month: "long", year: "numeric" });
}

/** `1 tell`, `2 tells`. */
export function plural(amount, noun) {
  return `${count(amount)} ${noun}${amount === 1 ? "" : "s"}`;
}
