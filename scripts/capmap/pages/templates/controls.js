// The controls above the table.
const byId = (id) => document.getElementById(id);
const BOXES = ["best", "rerank", "intervals", "heat", "raw"];
const TITLES = { name: "Models", size: "Sizes", submission: "Submissions" };

const fillSelect = (select, options) => {
  select.replaceChildren(...options.map(([value, label]) => make("option", { value }, label)));
};

// A folded list of check boxes, filled when it is opened first.
const makeFolded = (title, list) => {
  const summary = make("summary", {}, title);
  const panel = make("div", { className: "panel" });
  const folded = make("details", { className: "facet" }, summary, panel);
  folded.addEventListener("toggle", () => {
    if (!folded.open) return;
    document.querySelectorAll("details.facet[open]").forEach((other) => {
      if (other !== folded) other.open = false;
    });
    list(panel);
  });
  folded.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !folded.open) return;
    folded.open = false;
    summary.focus();
  });
  return folded;
};

const makeBox = (value, label, checked, act) => {
  const box = make("input", { type: "checkbox", value, checked });
  box.addEventListener("change", () => act(box.checked));
  return make("label", { className: "switch" }, box, " ", showName(label));
};

const makeFieldset = (title, boxes, words, all) => {
  const legend = make("legend", {}, title);
  const buttons = words.map(([word, on]) => {
    const button = make("button", { type: "button", ariaLabel: `${word}: ${title}` }, word);
    button.addEventListener("click", () => {
      boxes.forEach((label) => (label.control.checked = on));
      all(on);
    });
    return button;
  });
  return make("fieldset", {}, legend, make("div", { className: "pair" }, ...buttons), ...boxes);
};

const makeFacet = (facet) =>
  makeFolded(TITLES[facet], (panel) => {
    const values = entries.distinct(facet).sort(collator.compare);
    const boxes = values.map((value) =>
      makeBox(value, value || "not given", state.chosen[facet].has(value), (on) => {
        const chosen = new Set(state.chosen[facet]);
        if (on) chosen.add(value);
        else chosen.delete(value);
        change({ chosen: { ...state.chosen, [facet]: chosen } });
      }),
    );
    const clear = () => change({ chosen: { ...state.chosen, [facet]: new Set() } });
    panel.replaceChildren(makeFieldset(TITLES[facet], boxes, [["Clear", false]], clear));
  });

const choose = (ids, on) => {
  const chosen = new Set(state.columns ?? listDefaults());
  for (const id of ids) {
    if (on) chosen.add(id);
    else chosen.delete(id);
  }
  change({ columns: chosen });
};

const picker = makeFolded("Columns", (panel) => {
  const chosen = state.columns ?? listDefaults();
  const offered = [...columns.values()].filter(({ id }) => !ALWAYS.has(id));
  const titles = [...new Set(offered.map(({ group }) => group))];
  const fieldsets = titles.map((title) => {
    const inside = offered.filter(({ group }) => group === title);
    const boxes = inside.map(({ id, label }) =>
      makeBox(id, label, chosen.has(id), (on) => choose([id], on)),
    );
    const words = [["All", true], ["None", false]];
    return makeFieldset(title, boxes, words, (on) => choose(inside.map(({ id }) => id), on));
  });
  panel.replaceChildren(...fieldsets);
});

const facets = new Map(
  FACETS.filter((facet) => entries.has(facet)).map((facet) => [facet, makeFacet(facet)]),
);

const wireMethod = () => {
  const offered = methods.map((method, place) => [String(place), method || "not given"]);
  fillSelect(byId("method"), [...offered, ["all", "All methods"]]);
  byId("method-field").hidden = methods.length < 2;
  byId("method").addEventListener("change", ({ target }) => {
    const everyMethod = target.value === "all";
    change({ everyMethod, ...(!everyMethod && { method: methods[Number(target.value)] }) });
  });
};

const wireControls = () => {
  wireMethod();
  const names = [...groups.keys()];
  fillSelect(byId("group"), [["", "All datasets"], ...names.map((name, i) => [String(i), name])]);
  byId("group-field").hidden = names.length === 0;
  byId("group").addEventListener("change", ({ target }) => {
    change({ group: target.value === "" ? "" : names[Number(target.value)], columns: null });
  });
  byId("search").addEventListener("input", ({ target }) =>
    change({ query: target.value }, { replace: true }),
  );
  for (const name of BOXES) {
    byId(name).addEventListener("change", ({ target }) => change({ [name]: target.checked }));
  }
  const ranked = rows.filter((row) => isComplete(entries, row));
  byId("best-field").hidden = best.length === 0 || best.length >= ranked.length;
  byId("facets").append(...facets.values(), picker);
  byId("reset").addEventListener("click", () => change(fresh()));
  document.addEventListener("click", ({ target }) => {
    document.querySelectorAll("details.facet[open]").forEach((folded) => {
      if (!folded.contains(target)) folded.open = false;
    });
  });
};

// Sets the controls to the state, as after going back.
const showControls = () => {
  byId("method").value = state.everyMethod ? "all" : String(methods.indexOf(state.method));
  byId("group").value = state.group ? String([...groups.keys()].indexOf(state.group)) : "";
  if (byId("search").value !== state.query) byId("search").value = state.query;
  for (const name of BOXES) byId(name).checked = state[name];
  for (const [facet, folded] of facets) {
    const { size } = state.chosen[facet];
    folded.firstChild.textContent = size ? `${TITLES[facet]} (${size})` : TITLES[facet];
  }
};
