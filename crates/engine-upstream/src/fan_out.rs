//! Several choices from an engine that gives one: it is asked once for each, and for each prompt.

use std::sync::Arc;

use engine::{
    ChatAnswer, ChatChunk, ChatEngine, ChatEvent, ChatRequest, ChatStream, EngineError, Message,
    Prompt, Usage,
};
use futures_util::future::{BoxFuture, try_join_all};
use futures_util::stream::{self, StreamExt};

/// Each choice is a request of its own, so a caller may not ask for hundreds.
const CHOICES_MAX: u32 = 16;

/// An engine of one choice that answers with as many as are asked.
pub(crate) struct FanOut {
    single: Arc<dyn ChatEngine>,
}

impl FanOut {
    pub(crate) fn over(single: impl ChatEngine + 'static) -> FanOut {
        FanOut { single: Arc::new(single) }
    }
}

impl ChatEngine for FanOut {
    fn answer(&self, request: Arc<ChatRequest>) -> BoxFuture<'_, Result<ChatAnswer, EngineError>> {
        Box::pin(async move {
            let requests = split(&request)?;
            let asked = requests.into_iter().map(|single| self.single.answer(single));
            Ok(join(try_join_all(asked).await?, request.choices_wanted()))
        })
    }

    fn stream(&self, request: Arc<ChatRequest>) -> BoxFuture<'_, Result<ChatStream, EngineError>> {
        Box::pin(async move {
            let requests = split(&request)?;
            if requests.len() == 1 {
                return self.single.stream(request).await;
            }
            let asked = requests.into_iter().map(|single| self.single.stream(single));
            Ok(weave(try_join_all(asked).await?, request.choices_wanted()))
        })
    }

    fn continues_texts(&self) -> bool {
        self.single.continues_texts()
    }
}

/// One request for each choice of each prompt, with seeds of their own so that choices differ.
fn split(request: &Arc<ChatRequest>) -> Result<Vec<Arc<ChatRequest>>, EngineError> {
    if CHOICES_MAX < request.choices_total() {
        return Err(EngineError::Rejected {
            message: format!(
                "This model gives at most {CHOICES_MAX} choices; lower n or send fewer prompts"
            ),
        });
    }
    let single = |messages: &[Message], index: u32| {
        let mut single = ChatRequest { messages: messages.to_vec(), ..ChatRequest::clone(request) };
        single.choices = None;
        single.sampling.seed =
            request.sampling.seed.map(|seed| seed.saturating_add(i64::from(index)));
        Arc::new(single)
    };
    let mut requests = Vec::new();
    for messages in apart(request) {
        requests.extend((0..request.choices_wanted()).map(|index| single(&messages, index)));
    }
    Ok(requests)
}

/// The messages of each prompt.
fn apart(request: &ChatRequest) -> Vec<Vec<Message>> {
    let Some(Prompt { texts, suffix }) = request.prompt() else {
        return vec![request.messages.clone()];
    };
    let alone = |text| Prompt { texts: vec![text], suffix: suffix.clone() };
    texts.iter().map(|text| vec![Message::Prompt(alone(text.clone()))]).collect()
}

fn join(answers: Vec<ChatAnswer>, choices_each: u32) -> ChatAnswer {
    let mut whole =
        ChatAnswer { served: None, upstream_id: None, choices: Vec::new(), usage: None };
    let mut reports = Vec::new();
    for (index, answer) in (0..).zip(answers) {
        whole.upstream_id = whole.upstream_id.or(answer.upstream_id);
        reports.push(answer.usage);
        let Some(mut choice) = answer.choices.into_iter().next() else { continue };
        choice.index = index;
        whole.choices.push(choice);
    }
    whole.usage = added_up(&reports, choices_each);
    whole
}

/// All streams at once, each event under its own choice's index. An error ends them all.
fn weave(streams: Vec<ChatStream>, choices_each: u32) -> ChatStream {
    let reports = vec![None; streams.len()];
    let numbered = (0..).zip(streams).map(|(index, stream)| stream.map(move |it| (index, it)));
    let woven = stream::select_all(numbered);
    let state = Weave { woven: Some(woven), reports, choices_each };
    Box::pin(stream::unfold(state, |mut state| async move {
        let item = state.next().await?;
        Some((item, state))
    }))
}

struct Weave<S> {
    /// Nothing once the last event or an error was told.
    woven: Option<S>,
    reports: Vec<Option<Usage>>,
    choices_each: u32,
}

impl<S> Weave<S>
where
    S: stream::Stream<Item = (u32, Result<ChatEvent, EngineError>)> + Unpin,
{
    async fn next(&mut self) -> Option<Result<ChatEvent, EngineError>> {
        loop {
            let Some((index, item)) = self.woven.as_mut()?.next().await else {
                self.woven = None;
                let usage = added_up(&self.reports, self.choices_each);
                return usage.map(|usage| Ok(ChatEvent::Usage(usage)));
            };
            match item {
                Ok(ChatEvent::Chunk(chunk)) => {
                    return Some(Ok(ChatEvent::Chunk(renumbered(chunk, index))));
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
                // How far one of them is says little about them all.
                Ok(ChatEvent::Served(_) | ChatEvent::UpstreamId(_) | ChatEvent::Progress(_)) => {}
                Err(error) => {
                    self.woven = None;
                    return Some(Err(error));
                }
            }
        }
    }
}

/// The bytes of choice 0 name the right index already; the others must be written anew.
fn renumbered(mut chunk: ChatChunk, index: u32) -> ChatChunk {
    for delta in &mut chunk.deltas {
        delta.index = index;
    }
    let verbatim = chunk.verbatim.filter(|_| index == 0);
    ChatChunk { verbatim, ..chunk }
}

/// Each prompt that the caller sent counts once, however often it was read.
fn added_up(reports: &[Option<Usage>], choices_each: u32) -> Option<Usage> {
    let choices_each = usize::try_from(choices_each).unwrap_or(usize::MAX).max(1);
    let mut sum: Option<Usage> = None;
    for of_one_prompt in reports.chunks(choices_each) {
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
