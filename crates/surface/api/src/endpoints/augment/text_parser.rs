//! `POST /augment/text-parser`: extracts the text of a document.

use std::sync::Arc;

use domain::limits::tiers::LimitClass;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{MultipartForm, UploadedFile};
use http_frame::paid_work::{PaidCall, WorkResult};
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use http_frame::reply::document_text::DocumentTextReply;
use http_frame::web::WebWork;
use wire::augment::{ParsedText, TextFormat, TextParserRequest};

use crate::endpoints::augment::{build_charge, hold_price};

/// In most languages a token has about 3.2 characters.
const TENTHS_OF_CHARACTERS_PER_TOKEN: usize = 32;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/augment/text-parser", parse_document)
        .tag("Augment")
        .summary("Extract the text of a document")
        .limit(LimitClass::Augment)
        .refuses(400, "The file is missing, or no text can be extracted from it")
        .experimental()
        .build()
}

async fn parse_document(
    app: SharedApp,
    call: ApiCall<PayingCaller, MultipartForm<TextParserRequest>>,
) -> Result<DocumentTextReply, Refusal> {
    let (call, MultipartForm { fields, files }) = PaidCall::from_call(&app, call);
    let file = take_one_file(files, &fields)?;
    let funds = hold_price(&call, WebWork::Parse)?;
    let (web, charge) = (Arc::clone(&app.web), build_charge(&call, WebWork::Parse));
    let caller = call.reader_caller_id();
    let paid = funds.run_or(async move {
        let text = web.reading.read_document(caller, file.bytes).await?;
        if text.trim().is_empty() {
            return Err("No text content could be extracted from the file.".to_owned());
        }
        Ok(WorkResult { output: text, tokens: 0, charge })
    });
    let paid = paid.await.map_err(|failure| failure.into_refusal(&call.request_id, "file"))?;
    let paid = paid.map_err(|told| Refusal::bad_request("The file cannot be read", told))?;
    let remaining = payment::balance_remaining(&paid.receipt);
    let tokens = (paid.output.chars().count() * 10).div_ceil(TENTHS_OF_CHARACTERS_PER_TOKEN);
    Ok(match fields.response_format.unwrap_or_default() {
        TextFormat::Text => DocumentTextReply::Text(
            WithHeaders::new(paid.output).header(payment::BALANCE_REMAINING, remaining),
        ),
        TextFormat::Json => {
            let tokens = u64::try_from(tokens).unwrap_or(u64::MAX);
            let parsed = ParsedText { text: paid.output, tokens };
            DocumentTextReply::Json(
                WithHeaders::new(parsed).header(payment::BALANCE_REMAINING, remaining),
            )
        }
    })
}

fn take_one_file(
    files: Vec<UploadedFile>,
    fields: &TextParserRequest,
) -> Result<UploadedFile, Refusal> {
    let refuse = |message: &str| Refusal::bad_request("No file provided", message);
    let mut named = files.into_iter().filter(|upload| upload.field == "file");
    let file = named.next().ok_or_else(|| match fields.file {
        Some(_) => refuse("No file provided. Send `file` as a file, not as text."),
        None => refuse("No file provided"),
    })?;
    if named.next().is_some() {
        return Err(refuse("Send one file at a time."));
    }
    Ok(file)
}
