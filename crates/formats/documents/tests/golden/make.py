"""Writes the documents of this folder with the programs that people use.

    pip install python-docx==1.2.0 python-pptx==1.0.2 openpyxl==3.1.5 xlsxwriter==3.3.1 xlwt==1.3.0 odfpy==1.4.1 \
        ebooklib==0.20 pypandoc_binary==1.17
    python make.py

The files are committed, since the next version of a program may write others. Afterwards they are
packed anew with the best compression, without thumbnails: that halves them and changes no part.
"""

import datetime
import io
import pathlib
import zipfile

import docx
import openpyxl
import pptx
import pypandoc
import xlsxwriter
import xlwt
from ebooklib import epub
from odf import opendocument, style, table, text
from odf.draw import Frame, Page, TextBox

FOLDER = pathlib.Path(__file__).parent

MARKDOWN = """
# Übersicht

Der **erste** Absatz & ein `Wort` < zwei.[^note]

- eins
- zwei

| Name | Wert |
|------|------|
| a    | 1    |
| b    |      |
| c    | 3    |

[^note]: Eine Fußnote.
"""


def word():
    document = docx.Document()
    document.add_heading("Quarterly report", 1)
    paragraph = document.add_paragraph("Revenue rose by ")
    paragraph.add_run("12 %").bold = True
    paragraph.add_run(" — to 3 400 000 €.")
    document.add_paragraph("First\tsecond\nthird")
    grid = document.add_table(rows=2, cols=3)
    for row, cells in enumerate([("City", "2024", "2025"), ("Zürich", "", "7")]):
        for column, value in enumerate(cells):
            grid.cell(row, column).text = value
    grid.cell(1, 0).add_paragraph("(headquarters)")
    document.add_paragraph("日本語とемодзи 🙂")
    document.save(FOLDER / "python-docx.docx")


def pandoc():
    for name in ["pandoc.docx", "pandoc.odt", "pandoc.epub", "pandoc.pptx"]:
        kind = {"epub": "epub3"}.get(name.split(".")[1], name.split(".")[1])
        pypandoc.convert_text(
            MARKDOWN,
            kind,
            format="md",
            outputfile=str(FOLDER / name),
            extra_args=["--metadata", "title=Ein Buch", "--metadata", "lang=de"],
        )


def slides():
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text = "Plan for 2026"
    first.placeholders[1].text = "Costs & income"
    first.notes_slide.notes_text_frame.text = "Say hello first."
    second = deck.slides.add_slide(deck.slide_layouts[5])
    second.shapes.title.text = "Numbers"
    shape = second.shapes.add_table(2, 2, 0, 0, 3_000_000, 1_000_000)
    for row, cells in enumerate([("Item", "Cost"), ("Rent", "900")]):
        for column, value in enumerate(cells):
            shape.table.cell(row, column).text = value
    deck.save(FOLDER / "python-pptx.pptx")


def sheets():
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Sales"
    sheet.append(["Day", "Item", "Price", "Sold", "Total"])
    sheet.append([datetime.date(2025, 2, 28), "Tea", 2.3, 10, "=C2*D2"])
    sheet.append([datetime.datetime(2025, 3, 1, 13, 30), "Coffee & cake", 4.75, 3, True])
    sheet["G5"] = "far away"
    sheet["B6"] = datetime.time(7, 5)
    other = book.create_sheet("Notes")
    other["A1"] = "one\ntwo"
    book.save(FOLDER / "openpyxl.xlsx")

    book = xlsxwriter.Workbook(FOLDER / "xlsxwriter.xlsx", {"date_1904": True})
    sheet = book.add_worksheet("Days")
    day = book.add_format({"num_format": 'dd" of "mmmm yyyy'})
    hours = book.add_format({"num_format": "[h]:mm"})
    sheet.write_datetime(0, 0, datetime.datetime(2026, 11, 15), day)
    sheet.write_number(0, 1, 1.5, hours)
    sheet.write_rich_string(1, 0, "half ", book.add_format({"bold": True}), "bold")
    sheet.write_formula(1, 1, "=SUM(1,2)", None, 3)
    sheet.write_boolean(1, 2, False)
    sheet.write_number(1, 3, 1e21)
    book.close()


def old_sheets():
    book = xlwt.Workbook()
    sheet = book.add_sheet("Sales")
    day = xlwt.easyxf(num_format_str="yyyy-mm-dd")
    sheet.write(0, 0, "Day")
    sheet.write(0, 1, "Item")
    sheet.write(1, 0, datetime.date(2025, 2, 28), day)
    sheet.write(1, 1, "Tea")
    sheet.write(1, 2, 2.3)
    sheet.write(1, 3, 10)
    sheet.write(1, 4, -7.25)
    sheet.write(2, 1, "Kaffee & Kuchen – Zürich")
    sheet.write(2, 3, True)
    sheet.write(4, 6, "far away")
    other = book.add_sheet("Übersicht")
    other.write(0, 0, "one\ntwo")
    # More than one record takes, so that the texts are continued in another.
    other.write(1, 0, "wide – " + "ä" * 6000)
    other.write(2, 0, "wide – " + "ö" * 6000)
    other.write(3, 0, "the end")
    book.save(FOLDER / "xlwt.xls")


def open_documents():
    sheet = opendocument.OpenDocumentSpreadsheet()
    grid = table.Table(name="Lager")
    for values in [("Teil", "Zahl"), ("Schraube", "12")]:
        row = table.TableRow()
        for value in values:
            cell = table.TableCell(valuetype="string")
            cell.addElement(text.P(text=value))
            row.addElement(cell)
        grid.addElement(row)
    row = table.TableRow(numberrowsrepeated=2)
    row.addElement(table.TableCell(numbercolumnsrepeated=2))
    cell = table.TableCell(numbercolumnsrepeated=3, valuetype="string")
    cell.addElement(text.P(text="x"))
    row.addElement(cell)
    grid.addElement(row)
    grid.addElement(table.TableRow(numberrowsrepeated=1048570))
    sheet.spreadsheet.addElement(grid)
    sheet.save(FOLDER / "odfpy.ods")

    deck = opendocument.OpenDocumentPresentation()
    layout = style.PageLayout(name="Layout")
    deck.automaticstyles.addElement(layout)
    master = style.MasterPage(name="Master", pagelayoutname=layout)
    deck.masterstyles.addElement(master)
    for words in ["Guten Tag", "Auf Wiedersehen"]:
        page = Page(masterpagename=master)
        frame = Frame(width="10cm", height="3cm")
        box = TextBox()
        line = text.P(text=words)
        line.addElement(text.S(c=3))
        line.addText("!")
        box.addElement(line)
        frame.addElement(box)
        page.addElement(frame)
        deck.presentation.addElement(page)
    deck.save(FOLDER / "odfpy.odp")


def book():
    novel = epub.EpubBook()
    novel.set_identifier("urn:example:1")
    novel.set_title("A short story")
    novel.set_language("en")
    chapters = []
    for number, words in [(2, "It was night."), (1, "It was day.<br/>The end?")]:
        chapter = epub.EpubHtml(title=f"Chapter {number}", file_name=f"part {number}.xhtml")
        chapter.content = f"<h1>Chapter {number}</h1><p>{words}\n  Caf&#233; &amp; <em>bar</em>.</p>"
        novel.add_item(chapter)
        chapters.append(chapter)
    novel.toc = tuple(reversed(chapters))
    novel.add_item(epub.EpubNcx())
    novel.add_item(epub.EpubNav())
    novel.spine = list(reversed(chapters))
    epub.write_epub(FOLDER / "ebooklib.epub", novel)


def pack(path):
    """The order is kept: the media type comes first and is not compressed."""
    packed = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(packed, "w") as new:
        for entry in old.infolist():
            if "thumbnail" in entry.filename.lower():
                continue
            info = zipfile.ZipInfo(entry.filename, (2026, 11, 15, 0, 0, 0))
            info.compress_type = entry.compress_type
            new.writestr(info, old.read(entry), compresslevel=9)
    path.write_bytes(packed.getvalue())


if __name__ == "__main__":
    for make in [word, pandoc, slides, sheets, old_sheets, open_documents, book]:
        make()
    for path in FOLDER.iterdir():
        if path.suffix not in (".py", ".xls"):
            pack(path)
