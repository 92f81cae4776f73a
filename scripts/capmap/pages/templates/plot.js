// Score against size of the entries that are shown.
const UNITS = { k: 1e3, m: 1e6, b: 1e9, t: 1e12 };
const SHAPES = ["circle", "square", "diamond", "triangle"];
const OUTLINES = {
  circle: "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
  square: "M-4-4h8v8h-8z",
  diamond: "M0-5.5L5.5 0L0 5.5L-5.5 0z",
  triangle: "M0-5L5 4.5h-10z",
};
const HIGH = 340;
const MARGIN = { left: 52, right: 16, top: 26, bottom: 44 };

// A number with or without K, M, B or T behind it, as in "300M".
const readSize = (entry) => {
  const [, number, unit] = entries.text("size", entry).match(/^\s*([\d.]+)\s*([kmbt]?)\b/i) ?? [];
  return Number(number) * (UNITS[unit?.toLowerCase()] ?? 1) || NaN;
};

const sizes = new Map(rows.map((row) => [row, readSize(row)]));

const writeSize = (size) => {
  const [unit, factor] = Object.entries(UNITS).findLast(([, one]) => size >= one) ?? ["", 1];
  return `${Number((size / factor).toPrecision(3))}${unit.toUpperCase()}`;
};

// Round numbers within a span: 1, 2 or 5 times a power of ten.
const listTicks = (low, high) => {
  const power = 10 ** Math.floor(Math.log10((high - low) / 3));
  const step = power * [5, 2, 1].find((one) => (high - low) / (one * power) >= 3);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
};

const listSizes = (low, high) => {
  const powers = Array.from({ length: 15 }, (_, power) => 10 ** power);
  const among = (factors) =>
    powers.flatMap((power) => factors.map((one) => one * power)).filter((size) => size >= low && size <= high);
  return [[1], [1, 3], [1, 2, 5]].map(among).find((ticks) => ticks.length >= 3) ?? among([1, 1.5, 2, 3, 5, 7]);
};

const scale = (low, high, from, to) => (value) => from + ((value - low) / (high - low)) * (to - from);

const readPoint = (entry) => {
  const [sheet, row] = locateRank(entry);
  if (row === undefined) return null;
  const [score, low, high] = PARTS.map((name) => sheet.number(name, row));
  const size = sizes.get(entry);
  if (Number.isNaN(size + score)) return null;
  const hasRange = !Number.isNaN(low + high);
  return { entry, size, score, low: hasRange ? low : score, high: hasRange ? high : score, range: showRange(low, high) };
};

const drawAxis = (ticks, place, write, line) =>
  ticks.flatMap((tick) => {
    const at = place(tick);
    const [grid, label] = line(at);
    return [draw("path", { class: "grid", d: grid }), draw("text", label, write(tick))];
  });

const drawPoint = (point, x, y) => {
  const name = entries.text("name", point.entry);
  const method = entries.text("method", point.entry);
  const range = point.range && ` (${point.range})`;
  const text = `${showScore(point.score)}${range}, size ${entries.text("size", point.entry)}`;
  const title = methods.length > 1 ? `${name} · ${method}` : name;
  const mark = draw("g", { class: "mark", tabindex: 0, role: "button", "aria-haspopup": "dialog", "aria-label": `${title}: ${text}` });
  const place = methods.indexOf(method) % SHAPES.length;
  mark.append(
    draw("path", { class: "range", d: `M${x(point.size)} ${y(point.low)}V${y(point.high)}` }),
    draw("path", { class: `dot of-${SHAPES[place]}`, d: OUTLINES[SHAPES[place]], transform: `translate(${x(point.size)} ${y(point.score)})` }),
  );
  const open = () => change({ open: entries.text("model", point.entry) });
  mark.addEventListener("click", open);
  mark.addEventListener("keydown", (event) => ["Enter", " "].includes(event.key) && (event.preventDefault(), open()));
  mark.addEventListener("pointermove", (event) => showTip({ title, text }, event));
  mark.addEventListener("pointerleave", () => showTip(null));
  return mark;
};

// Names stand where they cover neither a point nor another name, those of the best entries first.
const drawNames = (points, x, y, wide) => {
  const taken = points.map((point) => [x(point.size) - 6, y(point.score) - 6, 12, 12]);
  const meets = ([left, top, width, height]) =>
    taken.some(([a, b, c, d]) => left < a + c && a < left + width && top < b + d && b < top + height);
  return points.flatMap((point) => {
    const name = entries.text("name", point.entry);
    const width = 6.6 * name.length;
    const right = x(point.size) + 8;
    const [left, anchor] = right + width < wide ? [right, "start"] : [x(point.size) - 8 - width, "end"];
    const box = [left, y(point.score) - 7, width, 14];
    if (left < MARGIN.left || meets(box)) return [];
    taken.push(box);
    const at = { x: anchor === "start" ? left : left + width, y: y(point.score) + 4, "text-anchor": anchor };
    return [draw("text", at, name)];
  });
};

const drawPlot = (order) => {
  const points = order.map(readPoint).filter(Boolean);
  byId("plot").hidden = new Set(points.map(({ size }) => size)).size < 2;
  if (byId("plot").hidden) return;
  const wide = Math.max(300, Math.min(900, byId("plot").clientWidth - 2));
  const [bottom, right] = [HIGH - MARGIN.bottom, wide - MARGIN.right];
  const all = points.map(({ size }) => size);
  const [small, large] = [Math.min(...all) / 1.25, Math.max(...all) * 1.25];
  const lows = Math.min(...points.map(({ low }) => low));
  const highs = Math.max(...points.map(({ high }) => high));
  const room = 0.04 * (highs - lows || 1);
  const log = scale(Math.log(small), Math.log(large), MARGIN.left, right);
  const x = (size) => log(Math.log(size));
  const y = scale(lows - room, highs + room, bottom, MARGIN.top);
  const basis = state.group ? `score on ${state.group}` : "overall score";
  const svg = draw("svg", { viewBox: `0 0 ${wide} ${HIGH}`, width: wide, height: HIGH, role: "group", "aria-label": `Plot of the ${basis} against size` });
  svg.append(
    ...drawAxis(listTicks(lows - room, highs + room), y, (tick) => String(Number(tick.toPrecision(3))), (at) => [
      `M${MARGIN.left} ${at}H${right}`, { x: MARGIN.left - 6, y: at + 4, "text-anchor": "end" }]),
    ...drawAxis(listSizes(small, large), x, writeSize, (at) => [
      `M${at} ${MARGIN.top}V${bottom}`, { x: at, y: bottom + 16, "text-anchor": "middle" }]),
    draw("text", { x: 4, y: 12 }, basis),
    draw("text", { x: (MARGIN.left + right) / 2, y: HIGH - 8, "text-anchor": "middle" }, "size (logarithmic)"),
    ...points.map((point) => drawPoint(point, x, y)),
    ...drawNames(points, x, y, right),
  );
  const lacking = order.length - points.length;
  const shapes = methods.length > 1 && state.everyMethod
    ? ` ${methods.map((method, i) => `${SHAPES[i % SHAPES.length]}: ${method || "not given"}`).join(", ")}.` : "";
  byId("plot-note").textContent = `The ${basis} of the entries shown, with intervals.${shapes}${lacking ? ` ${lacking} without a size or score.` : ""}`;
  byId("plot-place").replaceChildren(svg);
};
