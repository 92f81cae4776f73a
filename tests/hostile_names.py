"""Names that were chosen to do harm, for models, datasets and metrics."""

NAMES = [
    # Pages
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", '"><svg onload=alert(1)>'),
    *("</script><script>alert(1)</script>", "</style><body onload=alert(1)>", "<!--", "]]>"),
    *("&lt;b&gt;", "<a href=javascript:alert(1)>x</a>", "__proto__", "constructor"),
    # LaTeX and Markdown
    *(r"\input{/etc/passwd}", r"\write18{touch owned}", "$x^{2}$", "a&b_c#d~e^f%g", "{", "\\"),
    *(r"\end{tabular}", "a|b", "[a](javascript:alert(1))", "![a](http://127.0.0.1:9/x)", "**a**"),
    # Spreadsheets
    *("=1+1", "=cmd|'/c calc'!A0", "@SUM(A1)", "+1+1", "-1+1", "\uff1d1+1", "a\n=1+1"),
    # Directions, control characters and what cannot be seen
    *("\u202egnirts", "\u2066a\u2069b", "a\x07b", "\x1b[31mred\x1b[0m", "a\x7fb"),
    *("a\u200bc", "a\ufffeb", "a\u2028b", "a\rb", "a\x01b"),
    # Paths and commands
    *("../../../etc/passwd", "/etc/passwd", "..\\..\\x", "CON", "-rf", "$(touch owned)", "`id`"),
    # Other scripts, long and quoted ones
    *("W" * 300, "😀", "👨\u200d👩\u200d👧", "שלום", 'say "so"', "it's", "a\"b'c,d"),
    # Templates and words of programs
    *("{{ 7 * 7 }}", "{% raw %}", "${{7*7}}", "{wildcard}", "%s%n", "nan", "007"),
]
