//! Pictures are opened and written somewhere else than here.

use std::sync::Arc;

use bytes::Bytes;
use engine::{FileKind, Picture, PictureSize};
use pictures::{Fault, Format, Order, Outcome, Size};
use tokio::sync::Semaphore;

use crate::app::Shared;
use crate::paid::PaidCall;
use crate::refusal::Refusal;

/// Each may take hundreds of megabytes, so few are open at a time; the others wait.
const OPEN_MAX: usize = 2;
static TURNS: Semaphore = Semaphore::const_new(OPEN_MAX);

/// Where the pictures of one caller are worked on.
#[derive(Clone)]
pub(crate) struct Studio {
    app: Shared,
}

impl Studio {
    pub(crate) fn of(call: &PaidCall) -> Studio {
        Studio { app: Arc::clone(&call.app) }
    }

    /// Has an order carried out: what came of it, or what is wrong with the picture.
    pub(crate) async fn carry_out(
        &self,
        order: Order,
        bytes: Bytes,
    ) -> Result<Result<Outcome, Fault>, Refusal> {
        let turn = TURNS.acquire().await.map_err(Refusal::internal)?;
        let work = move || {
            let _turn = turn;
            pictures::carry_out(&order, &bytes)
        };
        self.app.tasks.spawn_blocking(work).await.map_err(Refusal::internal)
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
