// Makes every table sort and filter; without it the page still shows them all.
const collator = new Intl.Collator("en", { numeric: true });

const order = (numeric, column, sign) => (one, other) => {
  const a = one.cells[column].textContent;
  const b = other.cells[column].textContent;
  if (a === "" || b === "") return (a === "") - (b === ""); // missing ones stay last
  return sign * (numeric ? parseFloat(a) - parseFloat(b) : collator.compare(a, b));
};

const equip = (box) => {
  const table = box.querySelector("table");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const original = [...body.rows];
  const search = box.querySelector("input");

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = { none: "ascending", ascending: "descending", descending: "none" };
      const direction = next[head.getAttribute("aria-sort") ?? "none"];
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (direction !== "none") head.setAttribute("aria-sort", direction);
      const sign = direction === "ascending" ? 1 : -1;
      const compare = order(head.matches(".number"), column, sign);
      body.append(...(direction === "none" ? original : [...original].sort(compare)));
    });
  });

  search?.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of original) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    box.querySelector("output").textContent = words.length ? `${shown} of ${original.length} rows` : "";
  });
};

document.querySelectorAll(".table").forEach(equip);

// Figures that answer: what is under the pointer or the cursor is shown, a click highlights a model
// in all figures and tables, and a list takes models out of them.
const MARKS = "[data-model], [data-dataset]";
const places = new Map(); // model → what is drawn and written of it
const grids = new Map(); // svg → rows or cells in it
const hidden = new Set();
let picked = "";

const add = (model, element) => {
  if (!places.has(model)) places.set(model, []);
  places.get(model).push(element);
};

const frame = (svg, className, [x, y, width, height]) =>
  svg.appendChild(draw("rect", { class: className, x, y, width, height }));

const readGrids = (svg) =>
  [...svg.querySelectorAll("metadata")].map((element) => {
    const grid = { columns: [], texts: [], ...JSON.parse(element.textContent) };
    const [x, y, width, height] = grid.box;
    const [left, right] = grid.band;
    const high = height / grid.rows.length;
    const wide = width / (grid.columns.length || 1);
    grid.placeRow = (row) => [left, y + row * high, right - left, high];
    grid.placeCell = (row, column) =>
      grid.columns.length ? [x + column * wide, y + row * high, wide, high] : grid.placeRow(row);
    grid.placeColumn = (column) => [x + column * wide, y, wide, height];
    grid.find = (point) => [
      Math.floor((point.y - y) / high),
      point.x < x || point.x > x + width ? -1 : Math.floor((point.x - x) / wide),
    ];
    return grid;
  });

const describeCell = (grid, row, column) => {
  const own = { rect: grid.placeCell(row, Math.max(column, 0)) };
  const names = [[grid.kinds[0], grid.rows[row]]];
  if (grid.columns.length && column >= 0) names.unshift([grid.kinds[1], grid.columns[column]]);
  for (const [kind, name] of names) own[kind] = name;
  const text = grid.columns.length ? grid.texts[row]?.[column] : grid.texts[row];
  const missing = grid.columns.length && column >= 0 ? "empty" : "";
  return { ...own, title: names.reverse().map(([, name]) => name).join(" · "), text: text || missing };
};

const describeMark = (element) => {
  const { model = "", dataset = "", text = "", more = "" } = element.dataset;
  return { model, dataset, text, more, element, title: [model, dataset].filter(Boolean).join(" · ") };
};

const findSubject = (plot, event) => {
  const mark = event.target.closest(MARKS);
  if (mark) return describeMark(mark);
  const svg = plot.firstElementChild;
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  for (const grid of grids.get(svg)) {
    const [row, column] = grid.find(point);
    const [left, right] = grid.band;
    const inside = point.x >= left && point.x <= right;
    if (inside && row in grid.rows && (column === -1 || !grid.columns.length || column in grid.columns)) {
      return describeCell(grid, row, column);
    }
  }
  return null;
};

const listSubjects = (svg) => {
  const marks = [...svg.querySelectorAll(MARKS)].map(describeMark);
  const cells = grids.get(svg).flatMap((grid) =>
    grid.rows.flatMap((_, row) =>
      grid.columns.length
        ? grid.columns.map((_, column) => describeCell(grid, row, column))
        : [describeCell(grid, row, 0)],
    ),
  );
  const known = new Map([...cells, ...marks].map((subject) => [subject.title + subject.text, subject]));
  return [...known.values()];
};

const showCursor = (plot, subject) => {
  plot.querySelectorAll(".cursor").forEach((element) => element.remove());
  if (!subject) return;
  const svg = plot.firstElementChild;
  if (subject.rect) return frame(svg, "cursor", subject.rect);
  const box = subject.element.getBBox();
  frame(svg, "cursor", [box.x - 2, box.y - 2, box.width + 4, box.height + 4]);
};

const say = (plot, subject) => {
  let line = plot.parentElement.querySelector(".reading");
  if (!line) {
    line = make("p", { className: "reading" });
    line.setAttribute("aria-live", "polite");
    plot.after(line);
  }
  line.textContent = [subject.title, subject.text, subject.more].filter(Boolean).join("\n");
};

const showGridsOf = (model, className, change) => {
  for (const [svg, own] of grids) {
    for (const grid of own) {
      grid.rows.forEach((name, row) => {
        if (grid.kinds[0] === "model" && name === model) change(svg, className, grid.placeRow(row));
      });
      grid.columns.forEach((name, column) => {
        if (grid.kinds[1] === "model" && name === model) change(svg, className, grid.placeColumn(column));
      });
    }
  }
};

const pick = (model) => {
  const before = picked;
  picked = model === picked || !places.has(model) ? "" : model;
  document.querySelectorAll(".band").forEach((element) => element.remove());
  for (const element of places.get(before) ?? []) element.classList.remove("picked");
  for (const element of places.get(picked) ?? []) element.classList.add("picked");
  if (picked) showGridsOf(picked, "band", frame);
  document.body.classList.toggle("picking", picked !== "");
  list.querySelectorAll("button[aria-pressed]").forEach((button) => {
    button.setAttribute("aria-pressed", String(button.textContent === picked));
  });
  note.textContent = picked ? `Highlighted: ${picked}` : "";
  clear.hidden = !picked;
};

const toggle = (model, shown) => {
  if (shown) hidden.delete(model);
  else hidden.add(model);
  for (const element of places.get(model)) element.classList.toggle("off", !shown);
  document.querySelectorAll(".cover").forEach((element) => element.remove());
  for (const name of hidden) showGridsOf(name, "cover", frame);
};

const zoomable = (plot) => plot.querySelector("[data-more]") !== null;

const zoom = (svg, factor, at) => {
  const [, , width, height] = svg.home;
  const { x, y, width: wide, height: high } = svg.viewBox.baseVal;
  const size = Math.min(width, Math.max(width / 12, wide / factor));
  const share = size / wide;
  const fixed = at ?? { x: x + wide / 2, y: y + high / 2 };
  const left = fixed.x - (fixed.x - x) * share;
  move(svg, left, fixed.y - (fixed.y - y) * share, size, (size / width) * height);
};

const findPicked = (svg) => {
  const box = svg.querySelector(".picked")?.getBBox();
  return box && { x: box.x + box.width / 2, y: box.y + box.height / 2 };
};

const move = (svg, x, y, wide, high) => {
  const [, , width, height] = svg.home;
  const left = Math.min(Math.max(x, 0), width - wide);
  const top = Math.min(Math.max(y, 0), height - high);
  svg.setAttribute("viewBox", `${left} ${top} ${wide} ${high}`);
  svg.classList.toggle("zoomed", wide < width);
};

const equipZoom = (plot, svg) => {
  svg.home = svg.getAttribute("viewBox").split(" ").map(Number);
  const buttons = [
    ["Zoom in", "+", () => zoom(svg, 1.5, findPicked(svg))],
    ["Zoom out", "−", () => zoom(svg, 1 / 1.5)],
    ["Whole map", "Reset", () => move(svg, ...svg.home)],
  ].map(([label, text, act]) => {
    const button = make("button", { type: "button", onclick: act, title: label }, text);
    button.setAttribute("aria-label", label);
    return button;
  });
  plot.before(make("div", { className: "tools" }, ...buttons));
  plot.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== plot) return;
    event.preventDefault();
    const point = new DOMPoint(event.clientX, event.clientY);
    zoom(svg, event.deltaY < 0 ? 1.2 : 1 / 1.2, point.matrixTransform(svg.getScreenCTM().inverse()));
  }, { passive: false });
  plot.addEventListener("pointermove", (event) => {
    if (!(event.buttons & 1) || !svg.matches(".zoomed")) return;
    const { x, y, width, height } = svg.viewBox.baseVal;
    const scale = width / svg.clientWidth;
    move(svg, x - event.movementX * scale, y - event.movementY * scale, width, height);
  });
};

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

const equipKeys = (plot, svg) => {
  let subjects = null;
  let at = -1;
  plot.addEventListener("keydown", (event) => {
    subjects ??= listSubjects(svg);
    if (event.key === "Escape") pick("");
    else if (event.key === "Enter" || event.key === " ") pick(subjects[at]?.model ?? "");
    else if (["+", "-"].includes(event.key) && svg.home) zoom(svg, event.key === "+" ? 1.5 : 1 / 1.5, findPicked(svg));
    else if (event.key in STEPS && subjects.length) {
      const columns = event.key.match(/Up|Down/) ? grids.get(svg)[0]?.columns.length || 1 : 1;
      const next = at < 0 ? 0 : at + STEPS[event.key] * columns;
      at = Math.min(Math.max(next, 0), subjects.length - 1);
      showCursor(plot, subjects[at]);
      say(plot, subjects[at]);
    } else return;
    event.preventDefault();
  });
  plot.addEventListener("blur", () => showCursor(plot, null));
};

const equipPlot = (plot) => {
  const svg = plot.firstElementChild;
  grids.set(svg, readGrids(svg));
  svg.querySelectorAll("[data-model]").forEach((element) => add(element.dataset.model, element));
  plot.addEventListener("pointermove", (event) => showTip(findSubject(plot, event), event));
  plot.addEventListener("pointerleave", () => showTip(null));
  plot.addEventListener("click", (event) => {
    const subject = findSubject(plot, event);
    if (!subject) return;
    say(plot, subject);
    if (subject.model) pick(subject.model);
  });
  if (zoomable(plot)) equipZoom(plot, svg);
  equipKeys(plot, svg);
};

const equipRows = (table) => {
  const column = [...table.tHead.rows[0].cells].findIndex((head) => head.dataset.name === "model");
  if (column < 0) return;
  for (const row of table.tBodies[0].rows) {
    add(row.cells[column].textContent, row);
    row.addEventListener("click", () => {
      if (getSelection().isCollapsed) pick(row.cells[column].textContent);
    });
  }
};

const list = make("ul", { className: "list" });
const note = make("output", {});
const clear = make("button", { type: "button", hidden: true, onclick: () => pick(picked) }, "Clear");

const listModels = () => {
  const source = document.querySelector("#table-ranking tbody") ?? document.querySelector("td, th");
  const ranked = [...(source?.querySelectorAll("th") ?? [])].map((cell) => cell.textContent);
  const names = [...new Set([...ranked, ...[...places.keys()].sort()])].filter((name) =>
    places.get(name)?.some((element) => element.matches("tr")),
  );
  list.append(
    ...names.map((name) => {
      const box = make("input", { type: "checkbox", checked: true });
      box.setAttribute("aria-label", `Show ${name}`);
      box.addEventListener("change", () => toggle(name, box.checked));
      const button = make("button", { type: "button", onclick: () => pick(name) }, name);
      button.setAttribute("aria-pressed", "false");
      return make("li", {}, box, button);
    }),
  );
  const search = make("input", { type: "search", placeholder: "Find a model" });
  search.setAttribute("aria-label", "Find a model");
  search.addEventListener("input", () => {
    const wanted = search.value.toLowerCase();
    for (const item of list.children) item.hidden = !item.textContent.toLowerCase().includes(wanted);
  });
  const panel = make("div", { className: "panel" }, search, list);
  const box = make("details", { className: "models" }, make("summary", {}, "Models"), panel);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") box.open = false;
  });
  document.querySelector("nav")?.append(make("div", { className: "chosen" }, box, note, clear));
};

note.setAttribute("aria-live", "polite");
document.querySelectorAll(".plot").forEach(equipPlot);
document.querySelectorAll("table").forEach(equipRows);
if (places.size) listModels();
