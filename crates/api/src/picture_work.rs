//! Pictures are fetched, opened and written somewhere else than here.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{FileKind, Picture, PictureSize};
use pictures::{Fault, Format, Order, Outcome, Size};
use reader::CallerId;
use reader::jobs::picture::Request;
use web::{Ask, FetchFault};

use crate::app::Shared;
use crate::input::FILE_BYTES_MAX;
use crate::paid::PaidCall;
use crate::refusal::Refusal;

const FETCH_TIME_MAX: Duration = Duration::from_secs(20);
const ACCEPTED: &str = "image/png, image/jpeg, image/webp";
const TOO_MUCH: &str = "Reading the picture takes too much memory or time. Send a smaller one.";
const BUSY: &str = "Too many pictures are waiting to be read. Please try again shortly.";

/// Where the pictures of one caller are worked on.
#[derive(Clone)]
pub(crate) struct Studio {
    app: Shared,
    caller: CallerId,
}

impl Studio {
    pub(crate) fn of(call: &PaidCall) -> Studio {
        Studio { app: Arc::clone(&call.app), caller: call.reads_for() }
    }

    /// What lies at an address, or why it cannot be had.
    pub(crate) async fn fetch(&self, address: &str) -> Result<Bytes, String> {
        let fetcher = &self.app.web.scraper.fetcher;
        let told = |fault: FetchFault| fault.to_string();
        let address = fetcher.parse(address).map_err(told)?;
        let ask = Ask::get(ACCEPTED, FILE_BYTES_MAX, FETCH_TIME_MAX);
        let fetched = fetcher.fetch(&address, &ask).await.map_err(told)?;
        if !fetched.is_success() {
            return Err(format!("Its host answered with the status {}.", fetched.status));
        }
        Ok(fetched.body)
    }

    /// Has an order carried out: what came of it, or what is wrong with the picture.
    pub(crate) async fn carry_out(
        &self,
        order: Order,
        bytes: Bytes,
    ) -> Result<Result<Outcome, Fault>, Refusal> {
        let reader = self.app.reader.as_ref();
        match reader::ask(reader, self.caller, Request { order }, bytes).await {
            Ok((written, file)) => Ok(written.map(|written| written.with(file))),
            Err(reader::Fault::TooMuch { .. }) => Err(Refusal::no_picture(TOO_MUCH)),
            Err(reader::Fault::Busy) => Err(Refusal::busy(BUSY)),
            Err(fault @ reader::Fault::Unavailable { .. }) => Err(Refusal::unavailable(fault)),
        }
    }

    /// A picture on which nothing is to be seen.
    pub(crate) async fn black(
        &self,
        size: Size,
        format: Format,
    ) -> Result<Result<Outcome, Fault>, Refusal> {
        let work = move || pictures::black(size, format);
        self.app.tasks.spawn_blocking(work).await.map_err(Refusal::internal)
    }
}

/// What engines are sent.
pub(crate) fn for_engines(outcome: Outcome) -> Picture {
    let Outcome { file, format, size } = outcome;
    Picture {
        bytes: file.into(),
        kind: FileKind { extension: format.extension(), mime: format.mime() },
        size: PictureSize { width: size.width, height: size.height },
    }
}
