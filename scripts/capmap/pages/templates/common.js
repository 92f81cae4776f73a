// What all pages share: elements, tooltips, and tables as CSV.
const SVG = "http://www.w3.org/2000/svg";

const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

const draw = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

const tip = make("div", { className: "tip", hidden: true });
document.body.append(tip);

// What is under the pointer, beside it; nothing without a subject.
const showTip = (subject, event) => {
  tip.hidden = !subject;
  if (!subject) return;
  tip.replaceChildren(make("strong", {}, subject.title), subject.text ? `\n${subject.text}` : "");
  const { offsetWidth: wide, offsetHeight: high } = tip;
  const x = Math.min(event.clientX + 14, document.documentElement.clientWidth - wide - 8);
  const below = event.clientY + 16;
  tip.style.left = `${Math.max(8, x)}px`;
  tip.style.top = `${below + high > innerHeight ? event.clientY - high - 10 : below}px`;
};

// RFC 4180, with formulas defused as in the files of the study.
const FORMULA = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
const QUOTED = /[",\r\n]/;

const quote = (text, numeric = false) => {
  const safe = !numeric && FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const save = (name, text) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
