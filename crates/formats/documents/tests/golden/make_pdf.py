"""Writes the PDF files of this folder with the programs that people use.

    apt-get install --no-install-recommends groff ghostscript qpdf texlive-latex-base libpango-1.0-0 libpangoft2-1.0-0 \
        libharfbuzz-subset0 libcairo2 fonts-dejavu-core fonts-liberation
    pip install reportlab==5.1.0 fpdf2==2.8.9 weasyprint==70.0 typst==0.15.0 matplotlib==3.11.2 cairosvg==2.9.1
    python make_pdf.py

The files are committed, since the next version of a program may write others.
"""

import datetime
import pathlib
import subprocess
import tempfile

import cairosvg
import fpdf
import matplotlib
import reportlab.rl_config
import typst
import weasyprint
from reportlab.lib import colors, pagesizes, pdfencrypt
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen import canvas
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, Table

matplotlib.use("pdf")
reportlab.rl_config.invariant = 1

FOLDER = pathlib.Path(__file__).parent
DEJAVU = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"

FOX = "The quick brown fox jumps over the lazy dog, and nobody minds. "
CAT = "Meanwhile the cat sleeps on the warm stove and dreams of fish. "


def reportlab_columns():
    """Two columns of the standard fonts, without widths and packed twice, and a table above them."""
    path = FOLDER / "reportlab-columns.pdf"
    document = BaseDocTemplate(str(path), pagesize=pagesizes.A5, title="Columns")
    frames = [Frame(x, 40, 170, 300, id=str(x)) for x in (30, 215)]

    def head(page, _):
        page.setFont("Helvetica-Bold", 16)
        page.drawCentredString(210, 550, "A heading over everything")
        table = Table(
            [["City", "2024", "2025"], ["Zürich", "", "7"], ["São Paulo", "12", "34.50"]],
            colWidths=[120, 80, 80],
            style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black)],
        )
        table.wrapOn(page, 400, 200)
        table.drawOn(page, 60, 440)
        page.saveState()
        page.translate(15, 100)
        page.rotate(90)
        page.setFont("Helvetica", 8)
        page.drawString(0, 0, "Confidential draft")
        page.restoreState()
        page.setFont("Times-Roman", 9)
        page.drawCentredString(210, 20, "page 1")

    document.addPageTemplates(PageTemplate(frames=frames, onPage=head))
    style = ParagraphStyle("body", fontName="Times-Roman", fontSize=11, leading=13, alignment=4)
    document.build([Paragraph(FOX * 10 + CAT * 8, style)])


def reportlab_east_asian():
    """Fonts that are not in the file, with the codes that every reader knows."""
    page = canvas.Canvas(str(FOLDER / "reportlab-cjk.pdf"), pagesize=pagesizes.A5)
    for font, words, y in [
        ("HeiseiMin-W3", "日本語のテキスト、カタカナ。", 500),
        ("STSong-Light", "简体中文的文字。", 460),
        ("MSung-Light", "繁體中文的文字。", 420),
        ("HYSMyeongJo-Medium", "한국어 문장입니다.", 380),
    ]:
        pdfmetrics.registerFont(UnicodeCIDFont(font))
        page.setFont(font, 14)
        page.drawString(40, y, words)
    page.save()


def reportlab_form():
    """A form that was filled in."""
    page = canvas.Canvas(str(FOLDER / "reportlab-form.pdf"), pagesize=pagesizes.A5)
    page.setFont("Helvetica", 12)
    page.drawString(40, 500, "Name:")
    page.acroForm.textfield(name="name", value="Ada Lovelace", x=100, y=490, width=200, height=24, fontSize=12)
    page.drawString(40, 460, "City:")
    page.acroForm.textfield(name="city", value="London", x=100, y=450, width=200, height=24, fontSize=12)
    page.save()


def fpdf2_unicode():
    """A subset of a TrueType font, with lines that are justified."""
    document = fpdf.FPDF(format="A5")
    document.set_creation_date(datetime.datetime(2026, 11, 15, tzinfo=datetime.UTC))
    document.add_font("DejaVu", fname=DEJAVU)
    document.add_page()
    document.set_font("DejaVu", size=11)
    document.multi_cell(0, text="Größe, naïve façade, Łódź, Ελληνικά, Русский, 12 % — “quoted” …", align="J")
    document.ln()
    document.multi_cell(90, text=FOX * 2, align="J")
    document.set_font("Helvetica", size=11)
    document.cell(40, 8, "Item", border=1)
    document.cell(30, 8, "Price", border=1, align="R", new_x="LMARGIN", new_y="NEXT")
    document.cell(40, 8, "Tea", border=1)
    document.cell(30, 8, "2.30", border=1, align="R")
    document.output(str(FOLDER / "fpdf2.pdf"))


def weasyprint_page():
    """HTML with columns, a table, superscripts, Hebrew and letters that are set as one."""
    html = f"""<style>@page {{ size: A5; margin: 1cm }} body {{ font: 11px "DejaVu Sans" }}
      .two {{ columns: 2; text-align: justify }} h1 {{ letter-spacing: 2px }}</style>
      <h1>Efficient office</h1>
      <div class="two">{FOX * 4}{CAT * 4}</div>
      <table><tr><th>Name<th>Value<tr><td>x<sup>2</sup> + H<sub>2</sub>O<td>42</table>
      <ul><li>first</li><li>second</li></ul><p dir="rtl">שלום עולם, גיל 25</p>"""
    weasyprint.HTML(string=html).write_pdf(FOLDER / "weasyprint.pdf", pdf_identifier=b"golden")


def typst_page():
    source = (
        """#set page(width: 12cm, height: 8cm, columns: 2)
    #set text(size: 9pt)
    = Office flow
    """
        + FOX * 3
        + "\n\n"
        + CAT * 4
        + "\n\n$ sum_(i=1)^n i = (n(n+1))/2 $"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "main.typ"
        path.write_text(source)
        typst.compile(str(path), output=str(FOLDER / "typst.pdf"), timestamp=0)


def latex():
    """Two columns with ligatures, and accents over letters; its fonts say their letters by name only."""
    source = (
        r"""\documentclass[twocolumn,10pt]{article}\usepackage[paperwidth=105mm,paperheight=62mm,margin=5mm]{geometry}
    \pdfinfoomitdate=1 \pdftrailerid{} \pagestyle{empty}\begin{document}\twocolumn[An efficient title over both\bigskip]
    The difficult office flow affects everybody. """
        + FOX * 3
        + "\n\n"
        + CAT * 4
        + r"""``Quoted''
    words --- na\"\i ve caf\'e, gar\c con.\end{document}"""
    )
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "main.tex"
        path.write_text(source)
        subprocess.run(["pdflatex", "-interaction=batchmode", path.name], cwd=folder, check=True)
        (FOLDER / "pdflatex.pdf").write_bytes((pathlib.Path(folder) / "main.pdf").read_bytes())


def groff():
    source = (
        ".TL\nThe title\n.AU\nA. Writer\n.NH\nBeginning\n.PP\n"
        + FOX * 2
        + "\n.IP \\(bu\nfirst point\n.IP \\(bu\nsecond point\n"
    )
    output = subprocess.run(["groff", "-Tpdf", "-ms"], input=source.encode(), capture_output=True, check=True)
    (FOLDER / "groff.pdf").write_bytes(output.stdout)


def ghostscript():
    """PostScript with words that are placed one by one, and turned ones."""
    source = """%!PS
    /Times-Roman findfont 12 scalefont setfont
    50 700 moveto (Words) show 90 700 moveto (that) show 116 700 moveto (stand) show 150 700 moveto (apart.) show
    50 680 moveto (L) show -2 0 rmoveto (etters AV) show 4 0 rmoveto (kerned) show
    50 660 moveto 3 0 (wide letters) ashow
    gsave 300 600 translate 45 rotate 0 0 moveto (slanting note) show grestore
    50 640 moveto (second) show 50 652 moveto (in between, drawn later) show showpage"""
    command = ["gs", "-q", "-dNOPAUSE", "-dBATCH", "-sDEVICE=pdfwrite", "-sOutputFile=-", "-"]
    output = subprocess.run(command, input=source.encode(), capture_output=True, check=True)
    (FOLDER / "ghostscript.pdf").write_bytes(output.stdout)


def cairo():
    svg = """<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200" font-family="DejaVu Sans" font-size="12">
      <text x="20" y="40">Below the picture</text><text x="20" y="20">At the top</text>
      <text x="150" y="100" transform="rotate(90 150 100)">going down</text>
      <text x="20" y="120" letter-spacing="4">spaced out</text></svg>"""
    cairosvg.svg2pdf(bytestring=svg.encode(), write_to=str(FOLDER / "cairo.pdf"))


def plot():
    """Fonts that are drawings themselves."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(3, 2))
    axes.plot([1, 2, 3], [4, 1, 9])
    axes.set_title("Growth of things")
    axes.set_xlabel("Year")
    axes.set_ylabel("Amount in €")
    axes.set_xticks([1, 2, 3], ["2023", "2024", "2025"])
    axes.set_yticks([])
    figure.savefig(FOLDER / "matplotlib.pdf", metadata={"CreationDate": None})


def scan():
    """A picture of a page, and no text."""
    from PIL import Image, ImageDraw

    picture = Image.new("1", (200, 100), 1)
    ImageDraw.Draw(picture).text((20, 40), "only pixels")
    picture.save(FOLDER / "scan.pdf")


def qpdf():
    """The same file in other forms."""
    source = FOLDER / "ghostscript.pdf"
    for name, options in {
        "qpdf-object-streams": ["--object-streams=generate", "--deterministic-id"],
        "qpdf-linearized": ["--linearize", "--deterministic-id"],
        "qpdf-turned": ["--rotate=90", "--deterministic-id"],
        "qpdf-encrypted": ["--encrypt", "user", "owner", "256", "--"],
    }.items():
        subprocess.run(["qpdf", *options, str(source), str(FOLDER / f"{name}.pdf")], check=True)


def qpdf_encrypted():
    """The same file encrypted: so that it opens without a password, and so that it does not."""
    source = FOLDER / "ghostscript.pdf"
    old = ["128", "--use-aes=n"]
    for name, password, method, options in [
        ("rc4-40", "", ["40"], []),
        ("rc4-128", "", old, []),
        ("rc4-filters", "", [*old, "--force-V4"], ["--object-streams=generate"]),
        ("rc4-metadata", "", [*old, "--cleartext-metadata"], []),
        ("rc4-password", "user", old, []),
        ("aes-128", "", ["128", "--use-aes=y"], []),
        ("aes-256", "", ["256"], []),
        ("aes-256-old", "", ["256", "--force-R5"], []),
        ("aes-256-packed", "", ["256"], ["--object-streams=generate"]),
    ]:
        encrypt = ["--allow-weak-crypto", "--encrypt", password, "owner", *method, "--", *options]
        target = FOLDER / f"qpdf-{name}.pdf"
        subprocess.run(["qpdf", "--static-id", *encrypt, str(source), str(target)], check=True)


def qpdf_texts():
    """Encrypted texts in objects: what is to be read in the place of what is drawn."""
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources"
        "<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>/Properties<</P 5 0 R>>>>>>",
        "<</Length 66>>\nstream\nBT /F 12 Tf 9 9 Td /Span /P BDC (drawn) Tj EMC ( and shown) Tj ET\nendstream",
        "<</ActualText(read)/Others[(one)<</Deep(two)>>]>>",
    ]
    file, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(file))
        file += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    file += (
        f"xref\n0 6\n0000000000 65535 f \n{table}trailer<</Root 1 0 R/Size 6>>\nstartxref\n{len(file)}\n%%EOF".encode()
    )
    with tempfile.NamedTemporaryFile(suffix=".pdf") as source:
        source.write(file)
        source.flush()
        for name, method in [
            ("rc4", ["128", "--use-aes=n"]),
            ("aes-128", ["128", "--use-aes=y"]),
            ("aes-256", ["256"]),
        ]:
            encrypt = ["--static-id", "--allow-weak-crypto", "--encrypt", "", "owner", *method, "--"]
            target = FOLDER / f"qpdf-{name}-texts.pdf"
            subprocess.run(["qpdf", *encrypt, source.name, str(target)], check=True)


def ghostscript_encrypted():
    options = ["-sOwnerPassword=owner", "-dEncryptionR=3", "-dKeyLength=128", "-dPermissions=-44"]
    command = ["gs", "-q", "-dNOPAUSE", "-dBATCH", "-sDEVICE=pdfwrite", *options]
    target = FOLDER / "ghostscript-rc4.pdf"
    subprocess.run([*command, f"-sOutputFile={target}", str(FOLDER / "ghostscript.pdf")], check=True)


def reportlab_encrypted():
    lock = pdfencrypt.StandardEncryption("", ownerPassword="owner", canPrint=0, strength=40)
    page = canvas.Canvas(str(FOLDER / "reportlab-rc4.pdf"), pagesize=pagesizes.A5, encrypt=lock)
    page.setFont("Helvetica", 12)
    page.drawString(40, 500, "Balance on 15 November: 1,234.56")
    page.save()


def fpdf2_encrypted():
    document = fpdf.FPDF(format="A5")
    document.set_creation_date(datetime.datetime(2026, 11, 15, tzinfo=datetime.UTC))
    document.set_encryption(owner_password="owner", encryption_method=fpdf.enums.EncryptionMethod.RC4)
    document.add_page()
    document.set_font("Helvetica", size=12)
    document.cell(text="Balance on 15 November: 1,234.56")
    document.output(str(FOLDER / "fpdf2-rc4.pdf"))


if __name__ == "__main__":
    for make in [
        reportlab_columns,
        reportlab_east_asian,
        reportlab_form,
        fpdf2_unicode,
        weasyprint_page,
        typst_page,
        latex,
        groff,
        ghostscript,
        cairo,
        plot,
        scan,
        qpdf,
        qpdf_encrypted,
        qpdf_texts,
        ghostscript_encrypted,
        reportlab_encrypted,
        fpdf2_encrypted,
    ]:
        make()
