// Puts the state on the page.
let order = [];

const describeOrder = () => {
  const column = columns.get(state.sort);
  if (!column) return "";
  return `, sorted by ${column.label}, ${state.descending ? "descending" : "ascending"}`;
};

const showBanner = () => {
  const again = "The published rank (“was”) stands beneath each.";
  const basis = state.group ? `the score on ${state.group}` : "the overall score";
  byId("banner").hidden = !fleeting;
  byId("banner").textContent = fleeting
    ? `Ranks are recomputed by ${basis} within the ${order.length} entries shown. ${again}`
    : "";
};

const render = () => {
  const selection = select();
  fleeting = state.rerank ? rankAgain(selection) : null;
  order = sortEntries(selection);
  drawTable(order);
  drawPlot(order);
  showControls();
  showBanner();
  byId("status").textContent = `${order.length} of ${entries.length} entries${describeOrder()}`;
  showDialog();
};

const sortBy = (id) => {
  const { kind } = columns.get(id);
  const first = kind === "number" || (kind === "score" && !lowerIsBetter);
  if (state.sort !== id) change({ sort: id, descending: first });
  else if (state.descending === first) change({ descending: !first });
  else change({ sort: "", descending: false });
};

const wireTable = () => {
  table.append(
    make("caption", { className: "hidden", id: "heading" }, `Leaderboard of ${content.study}`),
    make("colgroup"), make("thead"), make("tbody"),
  );
  byId("main").append(table);
  table.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (button?.dataset.column !== undefined) sortBy(button.dataset.column);
    else if (button) change({ open: entries.text("model", Number(button.dataset.entry)) });
  });
};

const writeNotes = () => {
  const level = `${content.confidence}%`;
  const notes = [
    `Scores are normalized per dataset, and the overall score is the ${content.statistic.name} over runs and datasets; ${lowerIsBetter ? "lower" : "higher"} is better. With “All intervals” each has its ${level} interval beneath it. Raw dataset scores are means ± SEM over seeds in the metric's own units.`,
    `The small numbers at a rank are the ranks that are compatible with the data at ${level}. Entries that share a letter of their tie group cannot be told apart.`,
    "Ranks are those among all entries of a method, on all datasets or in the chosen dataset group; entries that lack some of these datasets are marked (7/8 or *), not ranked there, and stand last. Filters leave ranks as they are, unless “Re-rank within selection” is on.",
    "Darker blue (lighter at night) means a better normalized score within its column. The address of this page always leads to the view that you see.",
  ];
  byId("notes").append(...notes.map((note) => make("p", {}, note)));
  byId("caption").textContent = content.captions.entries ?? "";
  byId("caption").hidden = !content.captions.entries;
};

writeNotes();
wireTable();
wireControls();
byId("tools").hidden = false;
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
byId("download").addEventListener("click", () => save(`${content.study}-leaderboard.csv`, writeCsv(state.sort || state.group ? order : [...order].sort((a, b) => a - b))));
addEventListener("popstate", goBack);
addEventListener("beforeprint", finish);
addEventListener("resize", () => drawPlot(order));
goBack();
