//! Generates one choice: converts logits to events, token by token.

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::constraint::{ConstraintError, GrammarConstraint};
use crate::event::{CandidateLogprob, ChoiceUsage, FinishCause, GenerationEvent, TokenLogprob};
use crate::model::AnswerConstraints;
use crate::request::TextRequest;
use crate::sampler::{TokenSampler, compute_logprobs};
use crate::stop_filter::StopStringFilter;
use crate::tools::{AnswerPiece, ToolCallSplitter};
use crate::weights::ModelWeights;

#[derive(Debug)]
pub(crate) struct ChoiceGenerator {
    choice: u32,
    events: UnboundedSender<GenerationEvent>,
    sampler: TokenSampler,
    /// The active constraint.
    constraint: Option<GrammarConstraint>,
    /// Becomes active when a call starts.
    each_call: Option<GrammarConstraint>,
    outlet: StopStringFilter,
    /// Set only if calls are possible.
    splitter: Option<ToolCallSplitter>,
    is_one_call_enough: bool,
    has_called: bool,
    stop_tokens: Vec<u32>,
    stop_match: Option<String>,
    /// Number of alternatives to return per token.
    alternatives: Option<usize>,
    /// Log probabilities of tokens whose text was not sent yet.
    logprobs: Vec<TokenLogprob>,
    tokens_max: u32,
    usage: ChoiceUsage,
}

/// The next action of the scheduler.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NextStep {
    /// Process this token and continue.
    Token(u32),
    Done,
}

impl ChoiceGenerator {
    pub(crate) fn new(
        choice: u32,
        request: &TextRequest,
        prompt: &[u32],
        tokens_max: u32,
    ) -> ChoiceGenerator {
        let seed = request.seed.wrapping_add(u64::from(choice));
        let alternatives = request.logprobs.map(|few| usize::try_from(few).unwrap_or(0));
        let prompt_tokens = u32::try_from(prompt.len()).unwrap_or(u32::MAX);
        ChoiceGenerator {
            choice,
            // A closed channel until `with_events` sets the real one.
            events: unbounded_channel().0,
            sampler: TokenSampler::new(request.sampling, prompt, seed),
            constraint: None,
            each_call: None,
            outlet: StopStringFilter::new(&request.stop),
            splitter: None,
            is_one_call_enough: false,
            has_called: false,
            stop_tokens: request.stop_token_ids.clone(),
            stop_match: None,
            alternatives,
            logprobs: Vec::new(),
            tokens_max,
            usage: ChoiceUsage { prompt_tokens, ..ChoiceUsage::default() },
        }
    }

    pub(crate) fn with_events(self, events: UnboundedSender<GenerationEvent>) -> ChoiceGenerator {
        ChoiceGenerator { events, ..self }
    }

    pub(crate) fn with_constraints(self, constrained: &AnswerConstraints) -> ChoiceGenerator {
        ChoiceGenerator {
            constraint: constrained.whole.as_ref().map(GrammarConstraint::clone_initial),
            each_call: constrained.each_call.as_ref().map(GrammarConstraint::clone_initial),
            splitter: constrained
                .has_calls
                .then(|| ToolCallSplitter::with_bare(constrained.bare_names.clone())),
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

    pub(crate) fn send_failure(&self, cause: &str) {
        self.send(GenerationEvent::Failed { cause: cause.to_owned() });
    }

    /// Samples a token and sends the released text.
    pub(crate) fn generate_next(&mut self, logits: &[f32], weights: &ModelWeights) -> NextStep {
        match self.try_generate_next(logits, weights) {
            Ok(next) => next,
            Err(stuck) => {
                self.send_failure(&stuck.to_string());
                NextStep::Done
            }
        }
    }

    fn try_generate_next(
        &mut self,
        logits: &[f32],
        weights: &ModelWeights,
    ) -> Result<NextStep, ConstraintError> {
        let token = self.sampler.sample_token(logits, self.constraint.as_mut())?;
        self.usage.completion_tokens += 1;
        if weights.ends_answer(token) || self.stop_tokens.contains(&token) {
            self.flush();
            return Ok(self.finish_choice(FinishCause::Stop));
        }
        if let Some(constraint) = &mut self.constraint {
            constraint.accept_token(token)?;
        }
        let bytes = weights.bytes_of(token);
        self.note_likelihood(logits, token, &bytes, weights);
        let released = self.outlet.push(&bytes);
        self.release_text(&released.text);
        if released.stop_match.is_some() {
            self.stop_match = released.stop_match;
            return Ok(self.finish_choice(FinishCause::Stop));
        }
        if self.has_called && self.is_one_call_enough {
            return Ok(self.finish_choice(FinishCause::Stop));
        }
        self.follow_call();
        if self.is_constraint_complete() {
            self.flush();
            return Ok(self.finish_choice(FinishCause::Stop));
        }
        if self.tokens_max <= self.usage.completion_tokens {
            self.flush();
            return Ok(self.finish_choice(FinishCause::Length));
        }
        Ok(NextStep::Token(token))
    }

    fn note_likelihood(
        &mut self,
        logits: &[f32],
        token: u32,
        bytes: &[u8],
        weights: &ModelWeights,
    ) {
        let Some(few) = self.alternatives else { return };
        let (own, ranked) = compute_logprobs(logits, token, few);
        let alternatives = ranked
            .into_iter()
            .map(|(token, logprob)| CandidateLogprob { bytes: weights.bytes_of(token), logprob })
            .collect();
        let token = CandidateLogprob { bytes: bytes.to_vec(), logprob: own };
        self.logprobs.push(TokenLogprob { token, alternatives });
    }

    fn release_text(&mut self, text: &str) {
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
        self.release_text(&text);
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
            let mut constraint = each_call.clone_initial();
            // Text in the same token as the opening tag may already violate the grammar. The call
            // is then parsed unconstrained, and becomes text if it is invalid.
            self.constraint =
                constraint.accept_text(splitter.call_text()).is_ok().then_some(constraint);
        }
    }

    /// Only a constraint on the whole answer ends it.
    fn is_constraint_complete(&self) -> bool {
        let is_whole = self.each_call.is_none();
        is_whole && self.constraint.as_ref().is_some_and(GrammarConstraint::is_complete)
    }

    fn finish_choice(&mut self, finish: FinishCause) -> NextStep {
        if let Some(piece) = self.splitter.as_mut().and_then(ToolCallSplitter::finish) {
            self.send_pieces(vec![piece]);
        }
        let is_call = self.has_called && finish == FinishCause::Stop;
        let finish = if is_call { FinishCause::ToolCalls } else { finish };
        let (choice, usage, stop_match) = (self.choice, self.usage, self.stop_match.take());
        self.send(GenerationEvent::Finished { choice, finish, stop_match, usage });
        NextStep::Done
    }

    fn send_pieces(&mut self, pieces: Vec<AnswerPiece>) {
        for piece in pieces {
            match piece {
                AnswerPiece::Text(text) => self.send_text(text),
                AnswerPiece::Call { name, arguments } => {
                    self.has_called = true;
                    self.send(GenerationEvent::ToolCall { choice: self.choice, name, arguments });
                }
            }
        }
    }

    fn send_text(&mut self, text: String) {
        let logprobs = std::mem::take(&mut self.logprobs);
        self.send(GenerationEvent::Text { choice: self.choice, text, logprobs });
    }

    /// A dropped receiver is noticed before the next token.
    fn send(&self, event: GenerationEvent) {
        let _ = self.events.send(event);
    }
}
