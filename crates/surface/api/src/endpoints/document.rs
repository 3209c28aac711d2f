//! Documents in a conversation: their text becomes part of the prompt, except PDF files for models
//! that read those themselves.
//!
//! They are read once for all models, and before money is held, because the cost depends on their
//! text. Callers without a balance are refused before that.

use std::collections::HashMap;
use std::fmt::Display;
use std::time::Duration;

use bytes::Bytes;
use documents::DocumentBudget;
use domain::catalogue::TextCapability;
use domain::media::{self, InlineMedia, MediaSource};
use engine::PartKind;
use http_frame::paid_work::PaidCall;
use http_frame::refusal::Refusal;
use sandbox::ReaderError;
use sandbox::tasks::ReaderTask;
use sandbox::tasks::document::DocumentTask;
use schema_check::ValidationFaults;
use wire::chat::FileData;

use crate::endpoints::model_candidates::ModelCandidates;

const PDF: &str = "application/pdf";
/// Per request: a conversation contains the files of earlier turns.
const FILES_MAX: usize = 20;

/// CPU time after which no further document of a request is read.
const CPU_OF_REQUEST_MAX: Duration = Duration::from_secs(6);
/// CPU time counted for a document that exceeded its limit.
const CPU_OF_FILE_MAX: Duration = Duration::from_secs(DocumentTask::BOUNDS.cpu_s);

/// The indexes of the message and of its part with a document.
pub(super) type PartPosition = (usize, usize);

/// The documents of a request that were sent as data URLs, after reading.
#[derive(Debug, Default)]
pub(super) struct RequestDocuments(HashMap<PartPosition, Result<DocumentContent, String>>);

/// Treatment of PDF files, which some models read themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PdfFiles {
    /// Forwarded: all models that may answer read PDF files.
    PassedOn,
    /// Read, for models that do not.
    Read,
}

impl PdfFiles {
    fn for_models(candidates: &ModelCandidates<'_>) -> PdfFiles {
        if candidates.all_have(TextCapability::Documents) {
            PdfFiles::PassedOn
        } else {
            PdfFiles::Read
        }
    }
}

#[derive(Debug)]
enum DocumentContent {
    Read(DocumentText),
    /// The data URL, for any model.
    Pdf(String),
    /// The data URL for models that read PDF files, and the text for others.
    PdfAndText(String, DocumentText),
}

#[derive(Debug)]
enum DocumentText {
    Text(String),
    /// The reason why no text could be extracted.
    Unreadable(String),
}

impl DocumentText {
    fn from_result(read: Result<String, String>) -> DocumentText {
        match read {
            Ok(text) => DocumentText::Text(text),
            Err(fault) => DocumentText::Unreadable(fault),
        }
    }

    fn to_part(&self, file: &FileData) -> PartKind {
        PartKind::Text(match self {
            DocumentText::Text(text) => label_file_text(file, text),
            DocumentText::Unreadable(fault) => describe_unreadable_file(file, fault),
        })
    }
}

/// Reads the documents of a request, sent in `field`, by a reader. Cancelled with the request.
pub(super) async fn read_documents(
    call: &PaidCall,
    candidates: &ModelCandidates<'_>,
    files: Vec<InlineFile>,
    field: &'static str,
) -> Result<RequestDocuments, Refusal> {
    if files.is_empty() {
        return Ok(RequestDocuments::default());
    }
    if FILES_MAX < files.len() {
        let mut faults = ValidationFaults::default();
        faults.at([field]).push(format!("A request may have at most {FILES_MAX} files"));
        return Err(Refusal::invalid_request(&faults));
    }
    let pdf_files = PdfFiles::for_models(candidates);
    // Decoding megabytes would delay other requests on this event loop.
    let opened = call.app.tasks.spawn_blocking(move || DecodedFiles::from_files(files, pdf_files));
    let DecodedFiles { mut documents, unread } = opened.await.map_err(Refusal::internal)?;
    let mut allowance = ReadingAllowance::default();
    for UnreadFile { place, url, bytes } in unread {
        let reading = DocumentText::from_result(allowance.read(call, bytes).await?);
        documents.0.insert(
            place,
            Ok(match url {
                Some(url) => DocumentContent::PdfAndText(url, reading),
                None => DocumentContent::Read(reading),
            }),
        );
    }
    Ok(documents)
}

/// The remaining limits for reading the documents of one request.
#[derive(Default)]
struct ReadingAllowance {
    budget: DocumentBudget,
    cpu: Duration,
}

impl ReadingAllowance {
    /// Reads one document in a reader process.
    async fn read(
        &mut self,
        call: &PaidCall,
        bytes: Bytes,
    ) -> Result<Result<String, String>, Refusal> {
        if CPU_OF_REQUEST_MAX <= self.cpu {
            return Ok(Err(TOO_MUCH.to_owned()));
        }
        let request = DocumentTask { budget: self.budget };
        match sandbox::run_task(call.app.reader.as_ref(), call.reader_caller_id(), request, bytes)
            .await
        {
            Ok((outcome, text)) => {
                self.budget = outcome.budget;
                self.cpu += outcome.cpu;
                Ok(outcome.combine_with(&text))
            }
            Err(ReaderError::TooMuch { .. }) => {
                self.cpu += CPU_OF_FILE_MAX;
                Ok(Err(TOO_MUCH.to_owned()))
            }
            Err(ReaderError::Busy) => Err(Refusal::busy(BUSY)),
            Err(error @ ReaderError::Unavailable { .. }) => Err(Refusal::unavailable(error)),
        }
    }
}

const TOO_MUCH: &str =
    "Reading it takes too long, alone or together with the other files; send a part of it.";
const BUSY: &str =
    "Too many documents are waiting to be read. Please try again shortly, or send fewer at once.";

impl RequestDocuments {
    /// The document as a part of the prompt, or the reason why it cannot be one. `reads_documents`
    /// is true for models that read PDF files themselves.
    pub(super) fn prompt_part(
        &self,
        place: PartPosition,
        file: &FileData,
        reads_documents: bool,
    ) -> Result<PartKind, String> {
        let passed_on = |url: &str| {
            let (url, name) = (url.to_owned(), file.filename.clone());
            Ok(PartKind::Document { url, name })
        };
        match self.0.get(&place) {
            Some(Ok(DocumentContent::Pdf(url))) => passed_on(url),
            Some(Ok(DocumentContent::PdfAndText(url, _))) if reads_documents => passed_on(url),
            Some(Ok(DocumentContent::PdfAndText(_, reading) | DocumentContent::Read(reading))) => {
                Ok(reading.to_part(file))
            }
            Some(Err(problem)) => Err(problem.clone()),
            None => {
                media::parse_source(&file.file_data)
                    .map_err(|fault| describe_failed_check("file", fault))?;
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

fn label_file_text(file: &FileData, text: &str) -> String {
    match &file.filename {
        Some(name) => format!("[File: {name}]\n{text}"),
        None => text.to_owned(),
    }
}

/// The message for a file that failed its checks.
pub(super) fn describe_failed_check(what: &str, fault: impl Display) -> String {
    format!("Supplied {what} did not pass validation checks. {fault}")
}

/// A bad file must not fail the chat: the model gets an error text in its place.
fn describe_unreadable_file(file: &FileData, fault: &str) -> String {
    match &file.filename {
        Some(name) => format!("[Error processing file {name}: {fault}]"),
        None => format!("[Error processing file: {fault}]"),
    }
}

/// A document sent as a data URL, not read yet.
pub(super) struct InlineFile {
    place: PartPosition,
    data_url: String,
}

impl InlineFile {
    /// Moves the data, which may have megabytes, out of the request. None for other URLs.
    pub(super) fn take(place: PartPosition, file_data: &mut String) -> Option<InlineFile> {
        let is_inline = matches!(media::parse_source(file_data), Ok(MediaSource::Inline(_)));
        is_inline.then(|| InlineFile { place, data_url: std::mem::take(file_data) })
    }
}

/// Documents after decoding: those that are complete, and those still to be read.
#[derive(Default)]
struct DecodedFiles {
    documents: RequestDocuments,
    unread: Vec<UnreadFile>,
}

/// A document to be read by a reader process.
struct UnreadFile {
    place: PartPosition,
    /// The data URL of a PDF, for models that read it themselves.
    url: Option<String>,
    bytes: Bytes,
}

impl DecodedFiles {
    fn from_files(files: Vec<InlineFile>, pdf_files: PdfFiles) -> DecodedFiles {
        let mut opened = DecodedFiles::default();
        for file in files {
            let place = file.place;
            if let Some(done) = opened.open(file, pdf_files).transpose() {
                opened.documents.0.insert(place, done);
            }
        }
        opened
    }

    /// None if a reader process must read it.
    fn open(
        &mut self,
        file: InlineFile,
        pdf_files: PdfFiles,
    ) -> Result<Option<DocumentContent>, String> {
        let Ok(MediaSource::Inline(inline)) = media::parse_source(&file.data_url) else {
            return Err(describe_failed_check("file", "Send it as a data URL in base64."));
        };
        let bytes = InlineMedia::decode_bytes(&inline)
            .map_err(|fault| describe_failed_check("file", fault))?;
        let url = match (inline.media_type == PDF, documents::is_pdf(&bytes)) {
            (true, true) => Some(file.data_url),
            (true, false) => return Err(describe_failed_check("file", "It is not a PDF.")),
            // A PDF is declared as PDF, whatever type the caller gave.
            (false, _) if bytes.starts_with(b"%PDF-") => {
                Some(format!("data:{PDF};base64,{}", inline.base64))
            }
            (false, _) => None,
        };
        let url = match (url, pdf_files) {
            (Some(url), PdfFiles::PassedOn) => return Ok(Some(DocumentContent::Pdf(url))),
            (url, _) => url,
        };
        self.unread.push(UnreadFile { place: file.place, url, bytes: bytes.into() });
        Ok(None)
    }
}
