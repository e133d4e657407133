// Numbers, times and points as people read them.

const MINUS = "−";
const LOCALE = "en-GB"; // the language of the page

/** Four significant digits, exponents only where they help, a real minus sign. */
export function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (typeof value !== "number") return String(value);
  if (!Number.isFinite(value)) return value > 0 ? "∞" : `${MINUS}∞`;
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return count(value);
  let text;
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) {
    const [mantissa, exponent] = value.toExponential(digits - 2).split("e");
    text = `${mantissa}e${exponent.replace("+", "")}`;
  } else {
    const decimals = size === 0 ? 0 : Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
    text = value.toFixed(Math.min(decimals, 6));
  }
  return text.replaceAll("-", MINUS);
}

/** An integer with thin spaces between thousands. */
export function count(value) {
  if (value === null || value === undefined) return "–";
  return String(value)
    .replace(/\B(?=(\d{3})+$)/g, "\u202f")
    .replace("-", MINUS);
}

/** `1.23 ± 0.04`, both with the decimals that the deviation deserves. */
export function plusMinus(mean, std) {
  if (mean === null || mean === undefined) return "–";
  if (!std) return number(mean);
  const size = Math.max(Math.abs(mean), std);
  if (size >= 1e6 || size < 1e-3) return `${number(mean, 3)} ± ${number(std, 2)}`;
  const decimals = Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(std))));
  return `${mean.toFixed(decimals).replace("-", MINUS)} ± ${std.toFixed(decimals)}`;
}

/** A probability or a weight. */
export function percent(value) {
  const hundred = 100 * value;
  return hundred > 0 && hundred < 0.1 ? "< 0.1 %" : `${hundred.toFixed(1)} %`;
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

/** The date alone. */
export function date(at) {
  return new Date(at * 1000).toLocaleDateString(LOCALE, { day: "numeric", month: "long", year: "numeric" });
}

/** `1 tell`, `2 tells`. */
export function plural(amount, noun) {
  return `${count(amount)} ${noun}${amount === 1 ? "" : "s"}`;
}

/** A point in one line: `(0.31, 4.2)`, `arm 3`, `gain 0.31 · mode fast`. */
export function point(x, digits = 4) {
  if (x === null || x === undefined) return "–";
  if (Array.isArray(x)) return x.length === 1 ? number(x[0], digits) : `(${x.map((each) => number(each, digits)).join(", ")})`;
  if (typeof x === "object") {
    return Object.entries(x)
      .map(([name, value]) => `${name} ${typeof value === "number" ? number(value, digits) : value}`)
      .join(" · ");
  }
  return `arm ${x}`;
}
