//! Runs one claimed background response to its end, or until its lease is given up.

use std::sync::LazyLock;
use std::time::Duration;

use axum::body::BodyDataStream;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use domain::entropy::request_id;
use futures_util::StreamExt;
use http_frame::app::SharedApp;
use http_frame::background_runs::RunPlace;
use http_frame::call_terms::CallTerms;
use http_frame::inner_call::InnerEndpoint;
use http_frame::paid_work::call_funds::{CallFunds, JobFunds};
use http_frame::refusal::Refusal;
use http_frame::request_id::RequestId;
use http_frame::stored_caller::{StoredCall, StoredCaller, StoredCredential};
use ledger::{LedgerError, LedgerJob, WorkCharge};
use ledger_core::{CommandRejection, HoldId, HoldPayer, KeyTerms, LimitPeriod};
use serde_json::Value;
use store::error::StoreError;
use store::model_response::{
    ResponseCost, ResponseEnd, ResponseRecord, ResponseState, ResponseWrite, SealedResponse,
};
use store::write::{StoreWrite, WriteGroup};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::failure::{build_failed, describe_refusal, read_refusal, refused};
use super::lease::{ClaimedId, beat, extend_lease};
use super::live_output::LiveOutput;
use super::sealed_events::seal_events;
use crate::endpoints::responses::stored::event_split::EventSplitter;
use crate::endpoints::responses::stored::read;
use crate::endpoints::responses::stored::seal::ContentKey;
use crate::endpoints::responses::stored::turn::{
    self, StoredInput, StoredRun, TurnContext, build_request,
};

/// Claims of one response: each start of the service takes one up again.
const CLAIMS_MAX: u64 = 10;
/// Time that a response may wait for its first run.
const WAIT_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Events are stored together for this long, or until they have this size.
const FLUSH_EVERY: Duration = Duration::from_millis(100);
/// Delay before a refusal for lack of something here is tried again.
const RETRY_PAUSE: Duration = Duration::from_secs(5);
/// Time that a cancelled answer has to report what it produced. An engine that bills whole answers
/// is read for two minutes.
const SETTLE_MAX: Duration = Duration::from_secs(150);
const SETTLE_LOOK_EVERY: Duration = Duration::from_millis(10);

static ENDPOINT: LazyLock<InnerEndpoint> =
    LazyLock::new(|| crate::endpoints::responses::build_endpoint().to_inner());

pub(super) struct ResponseRun {
    app: SharedApp,
    place: RunPlace,
    record: ResponseRecord,
}

/// The reason why this worker stops. The row has the state.
#[derive(Debug)]
pub(super) enum ResponseRunStop {
    Ended,
    /// Another worker has it.
    Fenced,
    /// It is taken up again later.
    Later(String),
}

pub(super) type RunResult<T> = Result<T, ResponseRunStop>;

/// The end of a run, before it is written.
struct RunOutcome {
    state: ResponseState,
    response: Value,
    charge: Option<WorkCharge>,
}

impl From<StoreError> for ResponseRunStop {
    fn from(error: StoreError) -> ResponseRunStop {
        match error {
            StoreError::Missing(_) => ResponseRunStop::Fenced,
            other => ResponseRunStop::Later(other.to_string()),
        }
    }
}

impl ResponseRun {
    pub(super) fn new(app: SharedApp, place: RunPlace, record: ResponseRecord) -> ResponseRun {
        ResponseRun { app, place, record }
    }

    /// Runs while the lease is extended. On `stop` it gives the lease back at once.
    pub(super) async fn run_to_end(mut self, stop: CancellationToken) {
        let (app, id) = (self.app.clone(), self.record.id);
        let claimed = ClaimedId { id, fence: self.record.fence };
        let stopped = tokio::select! {
            stopped = self.run() => Some(stopped),
            stopped = extend_lease(&app, &claimed) => Some(stopped),
            () = stop.cancelled() => None,
        };
        match stopped {
            Some(ResponseRunStop::Ended) => {}
            Some(ResponseRunStop::Fenced) => {
                tracing::warn!(response = %id.0, "a response is another worker's now");
            }
            Some(ResponseRunStop::Later(error)) => {
                tracing::warn!(response = %id.0, error, "a response is run again later: {error}");
                let lease_until = app.clock.now().plus(RETRY_PAUSE);
                let _ = beat(&app, &claimed, lease_until).await;
            }
            None => {
                let _ = beat(&app, &claimed, app.clock.now()).await;
            }
        }
        self.place.note_progress();
    }

    async fn run(&mut self) -> ResponseRunStop {
        match self.process().await {
            Ok(()) => ResponseRunStop::Ended,
            Err(stopped) => stopped,
        }
    }

    async fn process(&mut self) -> RunResult<()> {
        let (owner, id) = (self.record.owner, self.record.id);
        let found = self.app.store.find_response(owner, id).await?;
        let Some(found) = found else { return self.end_deleted().await };
        self.record.events = found.record.events;
        let input = read::open_input(&found).map_err(|refusal| later(&refusal))?;
        let Some(run) = &input.run else {
            return Err(ResponseRunStop::Later(
                "a background response has nothing to run".to_owned(),
            ));
        };
        let job = self.ledger_job(&run.caller);
        if found.record.wants_cancel {
            return self.end_without_charge(job, &input, ResponseState::Cancelled, None).await;
        }
        if let Some(message) = self.find_deadline() {
            let failed = Some(("server_error".to_owned(), message.to_owned()));
            return self.end_without_charge(job, &input, ResponseState::Failed, failed).await;
        }
        let means = self.app.ledger.job_means(job).await;
        let Some(means) = means.map_err(|error| ResponseRunStop::Later(error.to_string()))? else {
            return Err(ResponseRunStop::Fenced);
        };
        let funds = JobFunds::new(job, means);
        let outcome = match self.answer(&found, &input, run, funds).await? {
            Ok(outcome) => outcome,
            Err((code, message)) => {
                let failed = Some((code, message));
                return self.end_without_charge(job, &input, ResponseState::Failed, failed).await;
            }
        };
        self.end(job, &input, outcome).await
    }

    /// The message of a response that has waited, run or been tried for too long.
    fn find_deadline(&self) -> Option<&'static str> {
        let (now, record) = (self.app.clock.now(), &self.record);
        let run_max = self.app.settings.responses.run_time_max;
        if CLAIMS_MAX < record.fence {
            return Some("The response was begun too often without an end.");
        }
        // The first claim has just set the start.
        if record.fence <= 1 && WAIT_MAX <= now.since(record.created) {
            return Some("The response waited too long.");
        }
        let started = record.started.unwrap_or(now);
        (run_max <= now.since(started)).then_some("The response took too long.")
    }

    /// Answers the request. The inner error is the code and the message of a request that is
    /// refused now, which costs nothing.
    async fn answer(
        &mut self,
        found: &SealedResponse,
        input: &StoredInput,
        run: &StoredRun,
        funds: JobFunds,
    ) -> RunResult<Result<RunOutcome, (String, String)>> {
        let Some(caller) = StoredCaller::parse(&run.caller) else {
            return Ok(Err(refused("its caller cannot be read")));
        };
        let context = match TurnContext::load(&self.app, self.record.owner, &input.fields).await {
            Ok(context) => context,
            Err(refusal) if refusal.status().is_server_error() => return Err(later(&refusal)),
            Err(refusal) => return Ok(Err(describe_refusal(refusal).await)),
        };
        let body = build_request(&run.body, context, &input.items, true);
        let body =
            serde_json::to_vec(&body).map_err(|error| ResponseRunStop::Later(error.to_string()))?;
        let call = StoredCall {
            path: "/responses".to_owned(),
            headers: read_headers(&run.headers),
            body,
            request_id: RequestId::new(request_id(self.app.entropy.as_ref())),
            terms: CallTerms {
                is_counted: true,
                funds: CallFunds::OfJob(funds.clone()),
                ..CallTerms::default()
            },
        };
        let app = self.app.clone();
        let response = tokio::select! {
            response = caller.serve(&app, &ENDPOINT, call) => Some(response),
            () = self.place.cancel.cancelled() => None,
        };
        let Some(response) = response else {
            return Ok(Ok(self.take_cancelled(found, input, LiveOutput::default(), &funds).await));
        };
        match response.status() {
            StatusCode::OK => {}
            status if status == StatusCode::SERVICE_UNAVAILABLE => {
                return Err(ResponseRunStop::Later("the service is not ready for it".to_owned()));
            }
            _ => return Ok(Err(read_refusal(response).await)),
        }
        let stream = response.into_body().into_data_stream();
        self.read_stream(found, input, stream, funds).await.map(Ok)
    }

    async fn read_stream(
        &mut self,
        found: &SealedResponse,
        input: &StoredInput,
        mut stream: BodyDataStream,
        funds: JobFunds,
    ) -> RunResult<RunOutcome> {
        let mut splitter = EventSplitter::default();
        let mut live = LiveOutput::default();
        let mut waiting = Vec::new();
        let mut flush_at = None;
        let deadline = Instant::now() + self.app.settings.responses.run_time_max;
        let end = loop {
            let flush = flush_at.unwrap_or(deadline);
            let bytes = tokio::select! {
                bytes = stream.next() => bytes,
                () = self.place.cancel.cancelled() => break None,
                () = sleep_until(flush), if flush_at.is_some() => {
                    flush_at = None;
                    self.store_events(found, &mut waiting).await?;
                    continue;
                }
                () = sleep_until(deadline) => break None,
            };
            let Some(Ok(bytes)) = bytes else { break None };
            let mut end = None;
            for event in splitter.push(&bytes) {
                let Some(data) = event.data else { continue };
                let Ok(event) = serde_json::from_str::<Value>(&data) else { continue };
                live.read_event(&event);
                end = self.take_event(input, event, &mut waiting).or(end);
            }
            if end.is_some() {
                break end;
            }
            if !waiting.is_empty() {
                flush_at = flush_at.or_else(|| Some(Instant::now() + FLUSH_EVERY));
            }
        };
        drop(stream);
        self.store_events(found, &mut waiting).await?;
        let Some(response) = end else {
            if self.place.cancel.is_cancelled() {
                return Ok(self.take_cancelled(found, input, live, &funds).await);
            }
            let charge = wait_for_charge(&funds).await;
            let message = "The answer broke off.".to_owned();
            let mut response = build_failed(input, Some(("server_error".to_owned(), message)));
            response["output"] = live.into_items().into();
            return Ok(RunOutcome { state: ResponseState::Failed, response, charge });
        };
        let charge = wait_for_charge(&funds).await;
        Ok(RunOutcome { state: turn::read_state(&response), response, charge })
    }

    /// Adds an event to those that wait to be stored. Returns the response if the event ends it.
    fn take_event(
        &mut self,
        input: &StoredInput,
        mut event: Value,
        waiting: &mut Vec<Value>,
    ) -> Option<Value> {
        let kind = event["type"].as_str().unwrap_or_default();
        // The client was told that it is created when it was queued.
        let is_begun = kind == "response.created";
        let is_end =
            matches!(kind, "response.completed" | "response.incomplete" | "response.failed");
        if is_end {
            return Some(event["response"].take());
        }
        if is_begun || !self.record.is_streamed {
            return None;
        }
        if let Some(response) = event.get_mut("response") {
            input.fields.dress_response(self.record.id, response);
            input.fields.trim_response(response);
        }
        if let Some(item) = event.get_mut("item") {
            input.fields.trim_item(item);
        }
        let number = self.record.events + waiting.len() as u64;
        event["sequence_number"] = number.into();
        waiting.push(event);
        None
    }

    async fn store_events(
        &mut self,
        found: &SealedResponse,
        waiting: &mut Vec<Value>,
    ) -> RunResult<()> {
        let (id, fence) = (self.record.id, self.record.fence);
        let Some(key) = found.record.key.map(ContentKey) else { return Ok(()) };
        if waiting.is_empty() {
            return Ok(());
        }
        let first = self.record.events;
        let events = seal_events(key, id, first, waiting, self.app.entropy.as_ref())
            .map_err(|refusal| later(&refusal))?;
        let write = ResponseWrite::AddEvents { id, fence, events };
        self.app.store.commit(WriteGroup::from_write(write.into())).await?;
        self.record.events = first + waiting.len() as u64;
        waiting.clear();
        self.place.note_progress();
        Ok(())
    }

    /// The outcome of a cancelled run: what it produced so far.
    async fn take_cancelled(
        &self,
        _: &SealedResponse,
        input: &StoredInput,
        live: LiveOutput,
        funds: &JobFunds,
    ) -> RunOutcome {
        let charge = wait_for_charge(funds).await;
        let mut response = build_failed(input, None);
        response["status"] = "cancelled".into();
        response["output"] = live.into_items().into();
        RunOutcome { state: ResponseState::Cancelled, response, charge }
    }

    /// Writes the end with its charge in one transaction. What costs nothing releases the hold.
    async fn end(
        &mut self,
        job: LedgerJob,
        input: &StoredInput,
        outcome: RunOutcome,
    ) -> RunResult<()> {
        let RunOutcome { state, response, charge } = outcome;
        self.check_fence().await?;
        let mut also = Vec::new();
        if matches!(state, ResponseState::Completed | ResponseState::Incomplete) {
            let added = input.fields.add_to_conversation(
                &self.app,
                self.record.owner,
                &input.items,
                &response,
            );
            also.extend(added.map_err(|refusal| later(&refusal))?.map(StoreWrite::from));
        }
        let end = self.build_end(state, response)?;
        let settled = match charge.filter(|charge| !charge.lines.is_empty()) {
            Some(charge) => {
                let settled = self.app.ledger.settle_job_with(job, charge, |receipt| {
                    let cost = turn::read_cost(receipt);
                    also.push(ResponseWrite::End(ResponseEnd { cost, ..end }).into());
                    also
                });
                settled.await.map(|_| ())
            }
            None => {
                also.push(ResponseWrite::End(end).into());
                self.app.ledger.release_job(job, also).await
            }
        };
        self.finish(settled, state)
    }

    async fn end_without_charge(
        &mut self,
        job: LedgerJob,
        input: &StoredInput,
        state: ResponseState,
        failure: Option<(String, String)>,
    ) -> RunResult<()> {
        let mut response = build_failed(input, failure);
        if state == ResponseState::Cancelled {
            response["status"] = "cancelled".into();
        }
        self.end(job, input, RunOutcome { state, response, charge: None }).await
    }

    /// Ends a response whose contents were deleted.
    async fn end_deleted(&mut self) -> RunResult<()> {
        self.check_fence().await?;
        // Its caller is not known any more, and its hold names the key.
        let payer = HoldPayer { owner: self.record.owner, key: None };
        let job = LedgerJob { hold: HoldId(self.record.id.0), payer };
        let end = ResponseEnd {
            id: self.record.id,
            state: ResponseState::Cancelled,
            output: Vec::new(),
            bytes: 0,
            cost: ResponseCost::default(),
            at: self.app.clock.now(),
        };
        let also = vec![ResponseWrite::End(end).into()];
        let released = self.app.ledger.release_job(job, also).await;
        self.finish(released, ResponseState::Cancelled)
    }

    fn build_end(&self, state: ResponseState, response: Value) -> RunResult<ResponseEnd> {
        let (id, entropy) = (self.record.id, self.app.entropy.as_ref());
        // A key that was deleted meanwhile is not needed: the store leaves the output out.
        let key = self.record.key.map_or_else(|| ContentKey::generate(entropy), ContentKey);
        let content = key.seal(id.0, &response, entropy).map_err(|refusal| later(&refusal))?;
        Ok(ResponseEnd {
            id,
            state,
            output: content.sealed,
            bytes: content.bytes,
            cost: ResponseCost::default(),
            at: self.app.clock.now(),
        })
    }

    fn finish(&self, moved: Result<(), LedgerError>, state: ResponseState) -> RunResult<()> {
        match moved {
            Ok(()) => {
                metrics::counter!("responses_ended_total", "outcome" => state.name()).increment(1);
                Ok(())
            }
            Err(LedgerError::Rejected(
                CommandRejection::Duplicate { .. } | CommandRejection::NoSuchHold,
            )) => Err(ResponseRunStop::Fenced),
            Err(error) => Err(ResponseRunStop::Later(error.to_string())),
        }
    }

    /// Checks the fence before money is moved. A refused group with money in it would stop all
    /// charging until the ledger is reloaded.
    async fn check_fence(&self) -> RunResult<()> {
        let row = self.app.store.response_record(self.record.id).await?;
        let is_ours = row.is_some_and(|row| row.fence == self.record.fence && row.state.is_open());
        if is_ours { Ok(()) } else { Err(ResponseRunStop::Fenced) }
    }

    /// The job of the ledger. The hold was counted against the key's limits when it was made, so
    /// only the key's id is needed.
    fn ledger_job(&self, caller: &str) -> LedgerJob {
        let key = StoredCaller::parse(caller).and_then(|caller| match caller.credential {
            StoredCredential::Key(key) => Some(KeyTerms {
                key,
                limit_usd: None,
                limit_diem: None,
                period: LimitPeriod::Epoch,
            }),
            StoredCredential::Wallet(_) => None,
        });
        let payer = HoldPayer { owner: self.record.owner, key };
        LedgerJob { hold: HoldId(self.record.id.0), payer }
    }
}

/// The charge that a call has left, once nothing of it runs any more.
async fn wait_for_charge(funds: &JobFunds) -> Option<WorkCharge> {
    let begun = Instant::now();
    while !funds.is_settled() && begun.elapsed() < SETTLE_MAX {
        sleep(SETTLE_LOOK_EVERY).await;
    }
    funds.take_charge()
}

fn read_headers(pairs: &[(String, String)]) -> HeaderMap {
    let read = |(name, value): &(String, String)| {
        Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
    };
    pairs.iter().filter_map(read).collect()
}

fn later(refusal: &Refusal) -> ResponseRunStop {
    ResponseRunStop::Later(format!("{refusal:?}"))
}
