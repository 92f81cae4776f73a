// What the reader chose, and the address that leads to it again.
const FACETS = ["name", "size", "submission"];

const fresh = () => ({
  method: methods[0] ?? "",
  everyMethod: methods.length > 1,
  query: "",
  chosen: { name: new Set(), size: new Set(), submission: new Set() },
  group: "",
  columns: null, // a set of ids, or null for the default ones
  sort: "",
  descending: false,
  raw: false,
  best: false,
  rerank: false,
  heat: true,
  intervals: false,
  open: "",
  beside: "", // what the open model is compared with
});

const SWITCHES = { raw: "raw", best: "best", rerank: "rerank", intervals: "intervals" };
let state = fresh();

const writeAddress = () => {
  const words = new URLSearchParams();
  const first = fresh();
  if (state.everyMethod) {
    if (!first.everyMethod) words.set("all", "1");
  } else if (first.everyMethod || state.method !== first.method) words.set("method", state.method);
  if (state.query) words.set("search", state.query);
  for (const facet of FACETS) {
    for (const value of [...state.chosen[facet]].sort()) words.append(facet, value);
  }
  if (state.group !== first.group) words.set("group", state.group);
  if (state.columns) {
    words.set("columns", "");
    for (const id of [...state.columns].sort()) words.append("column", id);
  }
  if (state.sort) words.set("sort", state.sort);
  if (state.descending) words.set("order", "descending");
  for (const [name, word] of Object.entries(SWITCHES)) if (state[name]) words.set(word, "1");
  if (!state.heat) words.set("heat", "0");
  if (state.open) words.set("open", state.open);
  if (state.open && state.beside) words.set("beside", state.beside);
  return words.toString();
};

// Reads an address; what is unknown in it is left out.
const readAddress = () => {
  const words = new URLSearchParams(location.hash.slice(1));
  const found = fresh();
  if (words.get("all") === "1") found.everyMethod = methods.length > 1;
  if (methods.includes(words.get("method"))) {
    Object.assign(found, { method: words.get("method"), everyMethod: false });
  }
  found.query = words.get("search") ?? "";
  for (const facet of FACETS) {
    const known = new Set(entries.distinct(facet));
    found.chosen[facet] = new Set(words.getAll(facet).filter((value) => known.has(value)));
  }
  if (words.get("group") === "" || groups.has(words.get("group"))) found.group = words.get("group");
  if (words.has("columns")) found.columns = new Set(words.getAll("column"));
  if (columns.has(words.get("sort"))) found.sort = words.get("sort");
  found.descending = words.get("order") === "descending";
  for (const [name, word] of Object.entries(SWITCHES)) found[name] = words.get(word) === "1";
  found.heat = words.get("heat") !== "0";
  for (const name of ["open", "beside"]) if (rowOf.has(words.get(name))) found[name] = words.get(name);
  return found;
};

// Changes the state and the address; typing replaces the address instead of adding one.
const change = (changes, { replace = false } = {}) => {
  state = { ...state, ...changes };
  const address = `#${writeAddress()}`;
  if (replace) history.replaceState(null, "", address);
  else if (address !== (location.hash || "#")) history.pushState(null, "", address);
  render();
};

const goBack = () => {
  state = readAddress();
  render();
};
