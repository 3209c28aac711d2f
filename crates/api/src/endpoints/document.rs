//! Documents in a conversation: their text is read into the prompt, unless they are PDF files and the model
//! can read one itself.
//!
//! They are read once, whichever models may get them, and before any money is held: the text is
//! what the prompt is measured by.

use std::collections::HashMap;

use documents::Budget;
use domain::catalogue::Capability;
use domain::media::{self, Inline, Source};
use engine::PartKind;
use tokio::sync::Semaphore;
use wire::chat::FileData;

use crate::app::App;
use crate::endpoints::chat::media::told;
use crate::endpoints::lineup::Lineup;
use crate::refusal::Refusal;

const PDF: &str = "application/pdf";
/// Requests whose documents are read at a time. Each keeps a core busy, and the cores are there for
/// everybody.
const READERS_MAX: usize = 4;
static READERS: Semaphore = Semaphore::const_new(READERS_MAX);

/// The message and the part in it that hold a document.
pub(super) type Place = (usize, usize);

/// The documents that were sent inside a request, after they were read.
#[derive(Debug, Default)]
pub(super) struct Documents(HashMap<Place, Result<Document, String>>);

/// What is done with PDF files, which some models read themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PdfFiles {
    /// All models that may answer read them.
    PassedOn,
    /// For those that do not.
    Read,
}

impl PdfFiles {
    pub(super) fn wanted_by(lineup: &Lineup<'_>) -> PdfFiles {
        if lineup.all_have(Capability::Documents) { PdfFiles::PassedOn } else { PdfFiles::Read }
    }
}

#[derive(Debug)]
enum Document {
    Read(Reading),
    /// Still as a data URL, for whichever model answers.
    Pdf(String),
    /// For models that read it themselves, and for others.
    PdfAndText(String, Reading),
}

#[derive(Debug)]
enum Reading {
    Text(String),
    /// Why no text could be read off it.
    Unreadable(String),
}

impl Reading {
    fn of(bytes: &[u8], budget: &mut Budget) -> Reading {
        match documents::read(bytes, budget) {
            Ok(text) => Reading::Text(text),
            Err(fault) => Reading::Unreadable(fault.to_string()),
        }
    }

    fn part(&self, file: &FileData) -> PartKind {
        PartKind::Text(match self {
            Reading::Text(text) => under_its_name(file, text),
            Reading::Unreadable(fault) => in_its_place(file, fault),
        })
    }
}

/// Reads the documents of a request, away from the threads that serve others.
pub(super) async fn read(
    app: &App,
    files: Vec<File>,
    pdf_files: PdfFiles,
) -> Result<Documents, Refusal> {
    if files.is_empty() {
        return Ok(Documents::default());
    }
    let turn = READERS.acquire().await.map_err(Refusal::internal)?;
    let read = app.tasks.spawn_blocking(move || {
        // Kept until the work is done, even if the caller does not wait for it.
        let _turn = turn;
        let mut budget = Budget::default();
        let read = |file: File| (file.place, file.read(&mut budget, pdf_files));
        Documents(files.into_iter().map(read).collect())
    });
    read.await.map_err(Refusal::internal)
}

impl Documents {
    /// The document as a part of the prompt for a model that reads documents itself or does not, or
    /// what keeps it from being one.
    pub(super) fn part(
        &self,
        place: Place,
        file: &FileData,
        reads_documents: bool,
    ) -> Result<PartKind, String> {
        let passed_on = |url: &str| {
            let (url, name) = (url.to_owned(), file.filename.clone());
            Ok(PartKind::Document { url, name })
        };
        match self.0.get(&place) {
            Some(Ok(Document::Pdf(url))) => passed_on(url),
            Some(Ok(Document::PdfAndText(url, _))) if reads_documents => passed_on(url),
            Some(Ok(Document::PdfAndText(_, reading) | Document::Read(reading))) => {
                Ok(reading.part(file))
            }
            Some(Err(problem)) => Err(problem.clone()),
            None => {
                media::source(&file.file_data).map_err(|fault| told("file", fault))?;
                if reads_documents {
                    return passed_on(&file.file_data);
                }
                Err("This model does not fetch files; send the file as a data URL, such as \
                     data:text/plain;base64,…"
                    .to_owned())
            }
        }
    }
}

fn under_its_name(file: &FileData, text: &str) -> String {
    match &file.filename {
        Some(name) => format!("[File: {name}]\n{text}"),
        None => text.to_owned(),
    }
}

/// One bad file among others must not spoil a chat: the model is told of it, and can say so.
fn in_its_place(file: &FileData, fault: &str) -> String {
    match &file.filename {
        Some(name) => format!("[Error processing file {name}: {fault}]"),
        None => format!("[Error processing file: {fault}]"),
    }
}

/// A document that was sent inside a request and not read yet.
pub(super) struct File {
    place: Place,
    data_url: String,
}

impl File {
    /// Moved and not copied, for each may have megabytes. What lies elsewhere stays.
    pub(super) fn take(place: Place, file_data: &mut String) -> Option<File> {
        let is_inline = matches!(media::source(file_data), Ok(Source::Inline(_)));
        is_inline.then(|| File { place, data_url: std::mem::take(file_data) })
    }

    fn read(self, budget: &mut Budget, pdf_files: PdfFiles) -> Result<Document, String> {
        let Ok(Source::Inline(inline)) = media::source(&self.data_url) else {
            return Err(told("file", "Send it as a data URL in base64."));
        };
        let bytes = Inline::bytes(&inline).map_err(|fault| told("file", fault))?;
        let url = match (inline.media_type == PDF, documents::is_pdf(&bytes)) {
            (true, true) => self.data_url,
            (true, false) => return Err(told("file", "It is not a PDF.")),
            // Models are told what it is, whatever the caller took it for.
            (false, _) if bytes.starts_with(b"%PDF-") => {
                format!("data:{PDF};base64,{}", inline.base64)
            }
            (false, _) => return Ok(Document::Read(Reading::of(&bytes, budget))),
        };
        Ok(match pdf_files {
            PdfFiles::PassedOn => Document::Pdf(url),
            PdfFiles::Read => Document::PdfAndText(url, Reading::of(&bytes, budget)),
        })
    }
}
