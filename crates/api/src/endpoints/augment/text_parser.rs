//! `POST /augment/text-parser`: extracts the text of a document.

use std::sync::Arc;

use domain::limits::tiers::LimitClass;
use wire::augment::{ParsedText, TextFormat, TextParserRequest};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::augment::{charge, hold};
use crate::input::{Form, Upload};
use crate::paid::{PaidCall, Produced};
use crate::payment;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;
use crate::reply::parsed::Parsed;
use crate::web::WebWork;

/// In most languages a token has about 3.2 characters.
const TENTHS_OF_CHARACTERS_PER_TOKEN: usize = 32;

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/augment/text-parser", parse_document)
        .tag("Augment")
        .summary("Read the text off a document")
        .limit(LimitClass::Augment)
        .refuses(400, "There is no file, or no text can be read off it")
        .experimental()
        .build()
}

async fn parse_document(
    app: Shared,
    call: Call<Customer, Form<TextParserRequest>>,
) -> Result<Parsed, Refusal> {
    let (call, Form { fields, files }) = PaidCall::of(&app, call);
    let file = the_file(files, &fields)?;
    let funds = hold(&call, WebWork::Parse)?;
    let (web, charge) = (Arc::clone(&app.web), charge(&call, WebWork::Parse));
    let caller = call.reads_for();
    let paid = funds.run_or(async move {
        let text = web.reading.document(caller, file.bytes).await?;
        if text.trim().is_empty() {
            return Err("No text content could be extracted from the file.".to_owned());
        }
        Ok(Produced { output: text, tokens: 0, charge })
    });
    let paid = paid.await.map_err(|failure| failure.into_refusal(&call.request_id, "file"))?;
    let paid = paid.map_err(|told| Refusal::bad_request("The file cannot be read", told))?;
    let remaining = payment::balance_remaining(&paid.receipt);
    let tokens = (paid.output.chars().count() * 10).div_ceil(TENTHS_OF_CHARACTERS_PER_TOKEN);
    Ok(match fields.response_format.unwrap_or_default() {
        TextFormat::Text => Parsed::Text(
            WithHeaders::new(paid.output).header(payment::BALANCE_REMAINING, remaining),
        ),
        TextFormat::Json => {
            let tokens = u64::try_from(tokens).unwrap_or(u64::MAX);
            let parsed = ParsedText { text: paid.output, tokens };
            Parsed::Json(WithHeaders::new(parsed).header(payment::BALANCE_REMAINING, remaining))
        }
    })
}

fn the_file(files: Vec<Upload>, fields: &TextParserRequest) -> Result<Upload, Refusal> {
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
