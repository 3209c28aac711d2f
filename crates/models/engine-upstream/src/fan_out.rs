//! Several choices or prompts from an engine that supports one per request: sends one request for
//! each.

use std::sync::Arc;

use engine::{
    ChatAnswer, ChatChunk, ChatEngine, ChatEvent, ChatMessage, ChatRequest, ChatStream,
    CompletionPrompt, EngineError, EngineUsage, NativeProtocol,
};
use futures_util::future::{BoxFuture, try_join_all};
use futures_util::stream::{self, StreamExt};

/// Maximum upstream requests per request of a caller.
const REQUESTS_MAX: u32 = 16;

/// Sends several requests for choices or prompts that the engine cannot produce in one.
pub(crate) struct FanOut {
    single: Arc<dyn ChatEngine>,
    gives_choices: bool,
}

/// The division of one request into several.
#[derive(Debug, Clone, Copy)]
struct FanOutPlan {
    /// Requests per prompt.
    requests_each: u32,
    /// Choices per request.
    choices_each: u32,
}

impl FanOut {
    /// For an engine with one choice of one prompt per request.
    pub(crate) fn by_choice(single: impl ChatEngine + 'static) -> FanOut {
        FanOut { single: Arc::new(single), gives_choices: false }
    }

    /// For an engine with several choices of one prompt per request.
    pub(crate) fn by_prompt(single: impl ChatEngine + 'static) -> FanOut {
        FanOut { single: Arc::new(single), gives_choices: true }
    }

    fn plan_requests(&self, request: &ChatRequest) -> Result<FanOutPlan, EngineError> {
        let choices = request.choices_wanted();
        let cut = if self.gives_choices {
            FanOutPlan { requests_each: 1, choices_each: choices }
        } else {
            FanOutPlan { requests_each: choices, choices_each: 1 }
        };
        if REQUESTS_MAX < request.prompt_count().saturating_mul(cut.requests_each) {
            let message = format!(
                "This model returns at most {REQUESTS_MAX} choices; lower `n` or send fewer prompts"
            );
            return Err(EngineError::Rejected { message });
        }
        Ok(cut)
    }
}

impl ChatEngine for FanOut {
    fn complete_chat(
        &self,
        request: Arc<ChatRequest>,
    ) -> BoxFuture<'_, Result<ChatAnswer, EngineError>> {
        Box::pin(async move {
            let cut = self.plan_requests(&request)?;
            let mut requests = split_request(&request, cut);
            // An answer that is passed through stays as it came.
            if request.native.is_some()
                && requests.len() == 1
                && let Some(alone) = requests.pop()
            {
                return self.single.complete_chat(alone).await;
            }
            let asked = requests.into_iter().map(|single| self.single.complete_chat(single));
            Ok(join_answers(try_join_all(asked).await?, cut))
        })
    }

    fn stream_chat(
        &self,
        request: Arc<ChatRequest>,
    ) -> BoxFuture<'_, Result<ChatStream, EngineError>> {
        Box::pin(async move {
            let cut = self.plan_requests(&request)?;
            let mut requests = split_request(&request, cut);
            if requests.len() == 1
                && let Some(alone) = requests.pop()
            {
                return self.single.stream_chat(alone).await;
            }
            let asked = requests.into_iter().map(|single| self.single.stream_chat(single));
            Ok(merge_streams(try_join_all(asked).await?, cut))
        })
    }

    fn count_prompt(&self, request: Arc<ChatRequest>) -> BoxFuture<'_, Option<u64>> {
        self.single.count_prompt(request)
    }

    fn dropped_fields(&self, request: &ChatRequest) -> Vec<String> {
        self.single.dropped_fields(request)
    }

    fn passes_through(&self, protocol: NativeProtocol) -> bool {
        self.single.passes_through(protocol)
    }

    fn supports_text_completion(&self) -> bool {
        self.single.supports_text_completion()
    }
}

/// Splits a request. Each part has its own seed so that choices differ.
fn split_request(request: &Arc<ChatRequest>, cut: FanOutPlan) -> Vec<Arc<ChatRequest>> {
    if request.prompt_count() == 1 && cut.requests_each == 1 {
        return vec![Arc::clone(request)];
    }
    let mut requests = Vec::new();
    for messages in messages_by_prompt(request) {
        for index in 0..cut.requests_each {
            let mut single = ChatRequest::clone(request);
            single.messages.clone_from(&messages);
            single.choices = request.choices.filter(|_| 1 < cut.choices_each);
            let seed = request.sampling.seed;
            single.sampling.seed = seed.map(|seed| seed.saturating_add(i64::from(index)));
            requests.push(Arc::new(single));
        }
    }
    requests
}

/// The messages of each prompt.
fn messages_by_prompt(request: &ChatRequest) -> Vec<Vec<ChatMessage>> {
    let Some(CompletionPrompt { texts, suffix }) = request.prompt() else {
        return vec![request.messages.clone()];
    };
    let alone = |text| CompletionPrompt { texts: vec![text], suffix: suffix.clone() };
    texts.iter().map(|text| vec![ChatMessage::Prompt(alone(text.clone()))]).collect()
}

fn join_answers(answers: Vec<ChatAnswer>, cut: FanOutPlan) -> ChatAnswer {
    let mut whole = ChatAnswer {
        served: None,
        upstream_id: None,
        choices: Vec::new(),
        prompt_logprobs: None,
        usage: None,
        native: None,
    };
    let mut reports = Vec::new();
    for (number, mut answer) in (0..).zip(answers) {
        whole.upstream_id = whole.upstream_id.or(answer.upstream_id);
        reports.push(answer.usage);
        answer.choices.sort_by_key(|choice| choice.index);
        for (place, mut choice) in (0..cut.choices_each).zip(answer.choices) {
            choice.index = cut.choice_index(number, place);
            whole.choices.push(choice);
        }
    }
    whole.usage = total_usage(&reports, cut.requests_each);
    whole
}

/// Merges all streams, with each event under its choice's index. An error ends all of them.
fn merge_streams(streams: Vec<ChatStream>, cut: FanOutPlan) -> ChatStream {
    let reports = vec![None; streams.len()];
    let numbered = (0..).zip(streams).map(|(index, stream)| stream.map(move |it| (index, it)));
    let woven = stream::select_all(numbered);
    let state = StreamMerger { woven: Some(woven), reports, cut };
    Box::pin(stream::unfold(state, |mut state| async move {
        let item = state.next().await?;
        Some((item, state))
    }))
}

struct StreamMerger<S> {
    /// `None` after the last event or an error.
    woven: Option<S>,
    reports: Vec<Option<EngineUsage>>,
    cut: FanOutPlan,
}

impl<S> StreamMerger<S>
where
    S: stream::Stream<Item = (u32, Result<ChatEvent, EngineError>)> + Unpin,
{
    async fn next(&mut self) -> Option<Result<ChatEvent, EngineError>> {
        loop {
            let Some((index, item)) = self.woven.as_mut()?.next().await else {
                self.woven = None;
                let usage = total_usage(&self.reports, self.cut.requests_each);
                return usage.map(|usage| Ok(ChatEvent::Usage(usage)));
            };
            match item {
                Ok(ChatEvent::Chunk(chunk)) => {
                    return Some(Ok(ChatEvent::Chunk(self.cut.renumber_chunk(chunk, index))));
                }
                Ok(ChatEvent::Usage(usage)) => {
                    let place = usize::try_from(index).unwrap_or(usize::MAX);
                    if let Some(report) = self.reports.get_mut(place) {
                        *report = Some(usage);
                    }
                }
                Ok(ChatEvent::UpstreamId(id)) if index == 0 => {
                    return Some(Ok(ChatEvent::UpstreamId(id)));
                }
                // The progress of one stream says little about the total.
                Ok(ChatEvent::Served(_) | ChatEvent::UpstreamId(_) | ChatEvent::Progress(_)) => {}
                Err(error) => {
                    self.woven = None;
                    return Some(Err(error));
                }
            }
        }
    }
}

impl FanOutPlan {
    /// The index of a choice over all requests, from its request and its index there.
    fn choice_index(self, request: u32, place: u32) -> u32 {
        let first = request.saturating_mul(self.choices_each);
        first.saturating_add(place.min(self.choices_each - 1))
    }

    /// The raw bytes of the first request have the right indexes already; those of others are
    /// encoded again.
    fn renumber_chunk(self, mut chunk: ChatChunk, request: u32) -> ChatChunk {
        for delta in &mut chunk.deltas {
            delta.index = self.choice_index(request, delta.index);
        }
        let verbatim = chunk.verbatim.filter(|_| request == 0);
        ChatChunk { verbatim, ..chunk }
    }
}

/// Sums the usage; each prompt counts once, even if several requests processed it.
fn total_usage(reports: &[Option<EngineUsage>], requests_each: u32) -> Option<EngineUsage> {
    let requests_each = usize::try_from(requests_each).unwrap_or(usize::MAX).max(1);
    let mut sum: Option<EngineUsage> = None;
    for of_one_prompt in reports.chunks(requests_each) {
        let next = sum_choices(of_one_prompt)?;
        sum = Some(sum.map_or(next, |sum| sum.plus_request(next)));
    }
    sum
}

fn sum_choices(reports: &[Option<EngineUsage>]) -> Option<EngineUsage> {
    let mut sum: Option<EngineUsage> = None;
    for report in reports {
        let next = (*report)?;
        sum = Some(sum.map_or(next, |sum| sum.plus_choice(next)));
    }
    sum
}
