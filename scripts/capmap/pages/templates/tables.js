// Makes every table sort, filter and download; without it the page still shows them all.
const collator = new Intl.Collator("en", { numeric: true });

const exact = (cell) => cell.dataset.v ?? cell.textContent;

const read = (row) => [...row.cells].map((cell) => cell.textContent).join("\n").toLowerCase();

const order = (numeric, column, sign) => (one, other) => {
  const a = exact(one.cells[column]);
  const b = exact(other.cells[column]);
  if (a === "" || b === "") return (a === "") - (b === ""); // missing ones stay last
  return sign * (numeric ? a - b : collator.compare(a, b));
};

const writeCsv = (heads, rows) => {
  const lines = rows.map((row) =>
    heads.map((head, i) => quote(exact(row.cells[i]), head.matches(".number"))).join(","),
  );
  return [heads.map((head) => quote(head.dataset.name)).join(","), ...lines, ""].join("\n");
};

const escapeLatex = (text) =>
  text.replace(/[\\{}$&#^_%~]/g, (sign) =>
    ({ "\\": "\\textbackslash{}", "^": "\\textasciicircum{}", "~": "\\textasciitilde{}" })[sign] ?? `\\${sign}`,
  );

const escapeMarkdown = (text) => text.replace(/[\\|`*_<>[\]]/g, "\\$&").replaceAll("\n", " ");

// What is shown of a table, in its present order, as an author pastes it.
const FORMATS = {
  md: (lines, numeric) => {
    const rows = lines.map((cells) => `| ${cells.map(escapeMarkdown).join(" | ")} |`);
    rows.splice(1, 0, `|${numeric.map((is) => (is ? "---:" : ":---")).join("|")}|`);
    return `${rows.join("\n")}\n`;
  },
  tex: (lines, numeric) => {
    const [head, ...rows] = lines.map((cells) => `${cells.map(escapeLatex).join(" & ")} \\\\`);
    const columns = numeric.map((is) => (is ? "r" : "l")).join("");
    const body = ["\\toprule", head, "\\midrule", ...rows, "\\bottomrule"].join("\n");
    return `\\begin{tabular}{${columns}}\n${body}\n\\end{tabular}\n`;
  },
};

const copyTable = (table, format) => {
  const heads = [...table.tHead.rows[0].cells];
  const rows = [table.tHead.rows[0], ...table.tBodies[0].rows].filter((row) => !row.hidden);
  const lines = rows.map((row) =>
    [...row.cells].filter((_, i) => !heads[i].hidden).map((cell) => cell.textContent.trim()),
  );
  const numeric = heads.filter((head) => !head.hidden).map((head) => head.matches(".number"));
  const text = FORMATS[format](lines, numeric);
  return navigator.clipboard.writeText(text);
};

const equip = (box) => {
  const table = box.querySelector("table");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const original = [...body.rows];
  const search = box.querySelector("input");
  const status = box.querySelector("output");
  const texts = new Map();

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

  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of original) {
      if (!texts.has(row)) texts.set(row, read(row));
      row.hidden = !words.every((word) => texts.get(row).includes(word));
      shown += !row.hidden;
    }
    status.textContent = words.length ? `${shown} of ${original.length} rows` : "";
  });

  box.querySelectorAll("[data-copy]").forEach((button) =>
    button.addEventListener("click", async () => {
      const copied = await copyTable(table, button.dataset.copy).then(() => true, () => false);
      status.textContent = copied ? "Copied" : "The browser does not let this page copy";
    }),
  );

  box.querySelector("button.download").addEventListener("click", () => {
    const rows = [...body.rows].filter((row) => !row.hidden);
    save(`${table.id}.csv`, writeCsv(heads, rows));
  });
  box.querySelector(".tools").hidden = false;
};

document.querySelectorAll(".table").forEach(equip);
