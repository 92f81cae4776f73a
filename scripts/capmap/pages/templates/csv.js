// Tables as CSV: RFC 4180, with formulas defused as in the files of the study.
const FORMULA = /^'*[=+\-@\t\r]/;
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
