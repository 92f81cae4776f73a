"""What authors print of a study: tables, paragraphs, figures and references in LaTeX."""
