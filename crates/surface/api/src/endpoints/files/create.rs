//! `POST /files`: stores a file, sealed as it arrives.

use std::time::Duration;

use batches::{NewFile, ReceivedFile};
use http_frame::app::{AppState, SharedApp};
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{StreamedFile, StreamedForm};
use http_frame::payment::can_consume;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use ledger_core::OwnerId;
use store::file::FilePurpose;
use wire::files::{FileObject, FileUpload, UploadPurpose};

use super::{refuse_file, to_wire};

const NAME_CHARS_MAX: usize = 255;
const NAME_DEFAULT: &str = "upload.jsonl";

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/files", create_file)
        .tag("Files")
        .summary("Upload a file for a batch")
        .build()
}

async fn create_file(
    app: SharedApp,
    call: ApiCall<PayingCaller, StreamedForm<FileUpload>>,
) -> Result<WithHeaders<FileObject>, Refusal> {
    let (PayingCaller(holder), mut form) = (call.caller, call.input);
    let owner = holder.owner.id;
    let mut received: Option<(String, ReceivedFile)> = None;
    let outcome = read_files(&app, owner, &mut form, &mut received).await;
    let fields = call.room.replace_by_fault(outcome).and_then(|()| form.finish());
    let (fields, received) = match (fields, received) {
        (Ok(fields), Some(received)) => (fields, received),
        (Ok(_), None) => return Err(Refusal::field_missing("file")),
        (Err(refusal), received) => {
            if let Some((_, received)) = received {
                app.batches.drop_received(received).await;
            }
            return Err(refusal);
        }
    };
    let (name, received) = received;
    let UploadPurpose::Batch = fields.purpose;
    let keep = fields.expires_after_seconds.map(Duration::from_secs);
    let new = NewFile { name, purpose: FilePurpose::Batch, keep };
    let file = app.batches.keep_file(holder.owner.clone(), received, new).await;
    Ok(WithHeaders::new(to_wire(file.map_err(refuse_file)?)))
}

async fn read_files(
    app: &AppState,
    owner: OwnerId,
    form: &mut StreamedForm<FileUpload>,
    received: &mut Option<(String, ReceivedFile)>,
) -> Result<(), Refusal> {
    let is_paid = can_consume(app.ledger.balances(owner).total());
    while let Some(StreamedFile { field, file_name, bytes }) = form.next_file().await? {
        if field != "file" || received.is_some() {
            let message = "Send exactly one file, in the field `file`.";
            return Err(Refusal::bad_request("Invalid form", message));
        }
        let stored = app.batches.receive_file(owner, is_paid, bytes).await;
        let stored =
            stored.map_err(|error| form.find_fault().unwrap_or_else(|| refuse_file(error)))?;
        *received = Some((clean_name(&file_name), stored));
    }
    Ok(())
}

/// The last part of a path, without control characters.
fn clean_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last.chars().filter(|it| !it.is_control()).take(NAME_CHARS_MAX).collect();
    if kept.trim().is_empty() { NAME_DEFAULT.to_owned() } else { kept }
}
