"""Text of a document."""


def load(path):
    import docx
    return [p.text for p in docx.Document(path).paragraphs]


print(load("letter.docx"))
