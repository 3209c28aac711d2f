//! Generates one choice: converts logits to events, token by token.

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::constraint::{Constraint, Stuck};
use crate::event::{Event, Finish, Logprob, TokenLogprob, Usage};
use crate::model::Constrained;
use crate::outlet::Outlet;
use crate::request::Request;
use crate::sampler::{Sampler, likelihoods};
use crate::tools::{Piece, Splitter};
use crate::weights::Weights;

#[derive(Debug)]
pub(crate) struct Writer {
    choice: u32,
    events: UnboundedSender<Event>,
    sampler: Sampler,
    /// The active constraint.
    constraint: Option<Constraint>,
    /// Becomes active when a call starts.
    each_call: Option<Constraint>,
    outlet: Outlet,
    /// Set only if calls are possible.
    splitter: Option<Splitter>,
    is_one_call_enough: bool,
    has_called: bool,
    stop_tokens: Vec<u32>,
    /// Number of alternatives to return per token.
    alternatives: Option<usize>,
    /// Log probabilities of tokens whose text was not sent yet.
    logprobs: Vec<TokenLogprob>,
    tokens_max: u32,
    usage: Usage,
}

/// The next action of the scheduler.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Process this token and continue.
    Token(u32),
    Done,
}

impl Writer {
    pub(crate) fn new(choice: u32, request: &Request, prompt: &[u32], tokens_max: u32) -> Writer {
        let seed = request.seed.wrapping_add(u64::from(choice));
        let alternatives = request.logprobs.map(|few| usize::try_from(few).unwrap_or(0));
        let prompt_tokens = u32::try_from(prompt.len()).unwrap_or(u32::MAX);
        Writer {
            choice,
            // A closed channel until `sending_to` sets the real one.
            events: unbounded_channel().0,
            sampler: Sampler::new(request.sampling, prompt, seed),
            constraint: None,
            each_call: None,
            outlet: Outlet::new(&request.stop),
            splitter: None,
            is_one_call_enough: false,
            has_called: false,
            stop_tokens: request.stop_token_ids.clone(),
            alternatives,
            logprobs: Vec::new(),
            tokens_max,
            usage: Usage { prompt_tokens, ..Usage::default() },
        }
    }

    pub(crate) fn sending_to(self, events: UnboundedSender<Event>) -> Writer {
        Writer { events, ..self }
    }

    pub(crate) fn constrained(self, constrained: &Constrained) -> Writer {
        Writer {
            constraint: constrained.whole.as_ref().map(Constraint::fresh),
            each_call: constrained.each_call.as_ref().map(Constraint::fresh),
            splitter: constrained
                .has_calls
                .then(|| Splitter::with_bare(constrained.bare_names.clone())),
            is_one_call_enough: constrained.is_one_call_enough,
            ..self
        }
    }

    /// True if the receiver was dropped.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.events.is_closed()
    }

    pub(crate) fn note_cached(&mut self, tokens: usize) {
        self.usage.cached_tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
    }

    pub(crate) fn fail(&self, cause: &str) {
        self.send(Event::Failed { cause: cause.to_owned() });
    }

    /// Samples a token and sends the released text.
    pub(crate) fn step(&mut self, logits: &[f32], weights: &Weights) -> Next {
        match self.write(logits, weights) {
            Ok(next) => next,
            Err(stuck) => {
                self.fail(&stuck.to_string());
                Next::Done
            }
        }
    }

    fn write(&mut self, logits: &[f32], weights: &Weights) -> Result<Next, Stuck> {
        let token = self.sampler.draw(logits, self.constraint.as_mut())?;
        self.usage.completion_tokens += 1;
        if weights.ends_answer(token) || self.stop_tokens.contains(&token) {
            self.flush();
            return Ok(self.finish(Finish::Stop));
        }
        if let Some(constraint) = &mut self.constraint {
            constraint.accept(token)?;
        }
        let bytes = weights.bytes_of(token);
        self.note_likelihood(logits, token, &bytes, weights);
        let released = self.outlet.push(&bytes);
        self.release(&released.text);
        if released.is_stopped {
            return Ok(self.finish(Finish::Stop));
        }
        if self.has_called && self.is_one_call_enough {
            return Ok(self.finish(Finish::Stop));
        }
        self.follow_call();
        if self.is_constraint_complete() {
            self.flush();
            return Ok(self.finish(Finish::Stop));
        }
        if self.tokens_max <= self.usage.completion_tokens {
            self.flush();
            return Ok(self.finish(Finish::Length));
        }
        Ok(Next::Token(token))
    }

    fn note_likelihood(&mut self, logits: &[f32], token: u32, bytes: &[u8], weights: &Weights) {
        let Some(few) = self.alternatives else { return };
        let (own, ranked) = likelihoods(logits, token, few);
        let alternatives = ranked
            .into_iter()
            .map(|(token, logprob)| Logprob { bytes: weights.bytes_of(token), logprob })
            .collect();
        let token = Logprob { bytes: bytes.to_vec(), logprob: own };
        self.logprobs.push(TokenLogprob { token, alternatives });
    }

    fn release(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match &mut self.splitter {
            None => self.send_text(text.to_owned()),
            Some(splitter) => {
                let pieces = splitter.push(text);
                self.send_pieces(pieces);
            }
        }
    }

    /// Sends text that was held back as a possible stop string.
    fn flush(&mut self) {
        let text = self.outlet.finish();
        self.release(&text);
    }

    /// Constrains a call that the model started unprompted to the tools' schemas.
    fn follow_call(&mut self) {
        let Some(splitter) = &self.splitter else { return };
        let Some(each_call) = &self.each_call else { return };
        if !splitter.is_in_call() {
            self.constraint = None;
            return;
        }
        if self.constraint.is_none() {
            let mut constraint = each_call.fresh();
            // Text in the same token as the opening tag may already violate the grammar. The call
            // is then parsed unconstrained, and becomes text if it is invalid.
            self.constraint = constraint.accept_text(splitter.held()).is_ok().then_some(constraint);
        }
    }

    /// Only a constraint on the whole answer ends it.
    fn is_constraint_complete(&self) -> bool {
        let is_whole = self.each_call.is_none();
        is_whole && self.constraint.as_ref().is_some_and(Constraint::is_complete)
    }

    fn finish(&mut self, finish: Finish) -> Next {
        if let Some(piece) = self.splitter.as_mut().and_then(Splitter::finish) {
            self.send_pieces(vec![piece]);
        }
        let is_call = self.has_called && finish == Finish::Stop;
        let finish = if is_call { Finish::ToolCalls } else { finish };
        self.send(Event::Finished { choice: self.choice, finish, usage: self.usage });
        Next::Done
    }

    fn send_pieces(&mut self, pieces: Vec<Piece>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.send_text(text),
                Piece::Call { name, arguments } => {
                    self.has_called = true;
                    self.send(Event::ToolCall { choice: self.choice, name, arguments });
                }
            }
        }
    }

    fn send_text(&mut self, text: String) {
        let logprobs = std::mem::take(&mut self.logprobs);
        self.send(Event::Text { choice: self.choice, text, logprobs });
    }

    /// A dropped receiver is noticed before the next token.
    fn send(&self, event: Event) {
        let _ = self.events.send(event);
    }
}
