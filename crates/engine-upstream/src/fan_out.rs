//! Several choices or prompts from an engine that supports one per request: sends one request for
//! each.

use std::sync::Arc;

use engine::{
    ChatAnswer, ChatChunk, ChatEngine, ChatEvent, ChatRequest, ChatStream, EngineError, Message,
    Prompt, Usage,
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
struct Cut {
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

    fn cut(&self, request: &ChatRequest) -> Result<Cut, EngineError> {
        let choices = request.choices_wanted();
        let cut = if self.gives_choices {
            Cut { requests_each: 1, choices_each: choices }
        } else {
            Cut { requests_each: choices, choices_each: 1 }
        };
        if REQUESTS_MAX < request.prompts().saturating_mul(cut.requests_each) {
            let message = format!(
                "This model gives at most {REQUESTS_MAX} choices; lower n or send fewer prompts"
            );
            return Err(EngineError::Rejected { message });
        }
        Ok(cut)
    }
}

impl ChatEngine for FanOut {
    fn answer(&self, request: Arc<ChatRequest>) -> BoxFuture<'_, Result<ChatAnswer, EngineError>> {
        Box::pin(async move {
            let cut = self.cut(&request)?;
            let requests = split(&request, cut);
            let asked = requests.into_iter().map(|single| self.single.answer(single));
            Ok(join(try_join_all(asked).await?, cut))
        })
    }

    fn stream(&self, request: Arc<ChatRequest>) -> BoxFuture<'_, Result<ChatStream, EngineError>> {
        Box::pin(async move {
            let cut = self.cut(&request)?;
            let mut requests = split(&request, cut);
            if requests.len() == 1
                && let Some(alone) = requests.pop()
            {
                return self.single.stream(alone).await;
            }
            let asked = requests.into_iter().map(|single| self.single.stream(single));
            Ok(weave(try_join_all(asked).await?, cut))
        })
    }

    fn dropped(&self, request: &ChatRequest) -> Vec<String> {
        self.single.dropped(request)
    }

    fn continues_texts(&self) -> bool {
        self.single.continues_texts()
    }
}

/// Splits a request. Each part has its own seed so that choices differ.
fn split(request: &Arc<ChatRequest>, cut: Cut) -> Vec<Arc<ChatRequest>> {
    if request.prompts() == 1 && cut.requests_each == 1 {
        return vec![Arc::clone(request)];
    }
    let mut requests = Vec::new();
    for messages in apart(request) {
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
fn apart(request: &ChatRequest) -> Vec<Vec<Message>> {
    let Some(Prompt { texts, suffix }) = request.prompt() else {
        return vec![request.messages.clone()];
    };
    let alone = |text| Prompt { texts: vec![text], suffix: suffix.clone() };
    texts.iter().map(|text| vec![Message::Prompt(alone(text.clone()))]).collect()
}

fn join(answers: Vec<ChatAnswer>, cut: Cut) -> ChatAnswer {
    let mut whole = ChatAnswer {
        served: None,
        upstream_id: None,
        choices: Vec::new(),
        prompt_logprobs: None,
        usage: None,
    };
    let mut reports = Vec::new();
    for (number, mut answer) in (0..).zip(answers) {
        whole.upstream_id = whole.upstream_id.or(answer.upstream_id);
        reports.push(answer.usage);
        answer.choices.sort_by_key(|choice| choice.index);
        for (place, mut choice) in (0..cut.choices_each).zip(answer.choices) {
            choice.index = cut.index(number, place);
            whole.choices.push(choice);
        }
    }
    whole.usage = added_up(&reports, cut.requests_each);
    whole
}

/// Merges all streams, with each event under its choice's index. An error ends all of them.
fn weave(streams: Vec<ChatStream>, cut: Cut) -> ChatStream {
    let reports = vec![None; streams.len()];
    let numbered = (0..).zip(streams).map(|(index, stream)| stream.map(move |it| (index, it)));
    let woven = stream::select_all(numbered);
    let state = Weave { woven: Some(woven), reports, cut };
    Box::pin(stream::unfold(state, |mut state| async move {
        let item = state.next().await?;
        Some((item, state))
    }))
}

struct Weave<S> {
    /// `None` after the last event or an error.
    woven: Option<S>,
    reports: Vec<Option<Usage>>,
    cut: Cut,
}

impl<S> Weave<S>
where
    S: stream::Stream<Item = (u32, Result<ChatEvent, EngineError>)> + Unpin,
{
    async fn next(&mut self) -> Option<Result<ChatEvent, EngineError>> {
        loop {
            let Some((index, item)) = self.woven.as_mut()?.next().await else {
                self.woven = None;
                let usage = added_up(&self.reports, self.cut.requests_each);
                return usage.map(|usage| Ok(ChatEvent::Usage(usage)));
            };
            match item {
                Ok(ChatEvent::Chunk(chunk)) => {
                    return Some(Ok(ChatEvent::Chunk(self.cut.renumbered(chunk, index))));
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

impl Cut {
    /// The index of a choice over all requests, from its request and its index there.
    fn index(self, request: u32, place: u32) -> u32 {
        let first = request.saturating_mul(self.choices_each);
        first.saturating_add(place.min(self.choices_each - 1))
    }

    /// The raw bytes of the first request have the right indexes already; those of others are
    /// encoded again.
    fn renumbered(self, mut chunk: ChatChunk, request: u32) -> ChatChunk {
        for delta in &mut chunk.deltas {
            delta.index = self.index(request, delta.index);
        }
        let verbatim = chunk.verbatim.filter(|_| request == 0);
        ChatChunk { verbatim, ..chunk }
    }
}

/// Sums the usage; each prompt counts once, even if several requests processed it.
fn added_up(reports: &[Option<Usage>], requests_each: u32) -> Option<Usage> {
    let requests_each = usize::try_from(requests_each).unwrap_or(usize::MAX).max(1);
    let mut sum: Option<Usage> = None;
    for of_one_prompt in reports.chunks(requests_each) {
        let next = side_by_side(of_one_prompt)?;
        sum = Some(sum.map_or(next, |sum| sum.plus(next)));
    }
    sum
}

fn side_by_side(reports: &[Option<Usage>]) -> Option<Usage> {
    let mut sum: Option<Usage> = None;
    for report in reports {
        let next = (*report)?;
        sum = Some(sum.map_or(next, |sum| sum.beside(next)));
    }
    sum
}
