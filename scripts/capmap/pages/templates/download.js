// The view as a file: RFC 4180 with the line ends and all the digits of the study's tables.
const NUMBERS = new Set([
  ...["rank", SCORE, "ci_low", "ci_high", "rank_low", "rank_high"],
  ...["mean", "runs", "datasets", "expected"],
]);

const writeCsv = (order) => {
  const scores = listShown().filter(({ heads }) => heads);
  const heads = [...entries.names, ...scores.flatMap(({ heads }) => heads())];
  if (fleeting) heads.push("rank_in_selection");
  const lines = order.map((entry) => {
    const cells = entries.names.map((name) => quote(entries.text(name, entry), NUMBERS.has(name)));
    for (const { heads, read } of scores) {
      cells.push(...(read(entry)?.texts ?? heads().map(() => "")));
    }
    if (fleeting) cells.push(fleeting.get(entry) ?? "");
    return cells.join(",");
  });
  return [heads.map((head) => quote(head)).join(","), ...lines, ""].join("\n");
};
