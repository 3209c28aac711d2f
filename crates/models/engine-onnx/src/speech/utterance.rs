//! A text being spoken: yields audio piece by piece until it ends or is cancelled.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ort::session::RunOptions;

use super::{SAMPLE_RATE_HZ, SpeechError, SpeechParameters, SpeechSynthesizer, SpeechVoice, trim};

/// Iterator over the audio of a text. Each piece is computed on demand.
#[derive(Debug)]
pub struct SpeechUtterance<'s> {
    synthesizer: &'s SpeechSynthesizer,
    voice: &'s SpeechVoice,
    speed: f32,
    cancel: Arc<CancelHandle>,
    sentences: VecDeque<String>,
    /// Phonemes of the current sentence that are still to be spoken.
    pieces: VecDeque<String>,
    /// Set once anything audible was found.
    has_begun: bool,
    /// Samples of silence due before the next piece.
    pause: usize,
}

/// Voice and speed.
pub(super) struct VoiceSettings<'s> {
    pub(super) voice: &'s SpeechVoice,
    pub(super) speed: f32,
}

/// Cancels an utterance from any thread, also within a piece.
pub struct CancelHandle {
    cancelled: AtomicBool,
    pub(super) run: RunOptions,
}

impl std::fmt::Debug for CancelHandle {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Cancel").field(&self.cancelled).finish()
    }
}

impl CancelHandle {
    pub fn new() -> Result<CancelHandle, SpeechError> {
        Ok(CancelHandle { cancelled: AtomicBool::new(false), run: RunOptions::new()? })
    }

    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        // Fails only for invalid options.
        let _ = self.run.terminate();
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }
}

impl<'s> SpeechUtterance<'s> {
    pub(super) fn new(
        synthesizer: &'s SpeechSynthesizer,
        text: &str,
        VoiceSettings { voice, speed }: VoiceSettings<'s>,
        cancel: Arc<CancelHandle>,
    ) -> Result<SpeechUtterance<'s>, SpeechError> {
        let sentences = phonemes::split_sentences(text).into_iter().map(str::to_owned).collect();
        let mut utterance = SpeechUtterance {
            synthesizer,
            voice,
            speed,
            cancel,
            sentences,
            pieces: VecDeque::new(),
            has_begun: false,
            pause: 0,
        };
        utterance.read_on()?;
        if utterance.pieces.is_empty() { Err(SpeechError::Unspeakable) } else { Ok(utterance) }
    }

    /// Returns the handle that cancels this utterance.
    pub fn cancel_handle(&self) -> Arc<CancelHandle> {
        self.cancel.clone()
    }

    /// Reads sentences until one has audible phonemes.
    fn read_on(&mut self) -> Result<(), SpeechError> {
        while self.pieces.is_empty()
            && let Some(sentence) = self.sentences.pop_front()
        {
            let phonemes =
                self.synthesizer.language.sentence_phonemes(&sentence, self.voice.accent)?;
            let is_long = FIRST_PHONEMES_MAX < phonemes.chars().count();
            let begins = !self.has_begun && is_long;
            let clause = phonemes::first_clause(&phonemes, FIRST_PHONEMES_MIN);
            let (first, rest) = clause.filter(|_| begins).unwrap_or(("", &phonemes));
            let pieces = [
                phonemes::split_phonemes(first, PHONEMES_MAX),
                phonemes::split_phonemes(rest, PHONEMES_MAX),
            ];
            let pieces = pieces.into_iter().flatten();
            self.pieces = pieces.filter(|it| is_audible(it)).map(str::to_owned).collect();
            self.has_begun |= !self.pieces.is_empty();
        }
        Ok(())
    }

    fn next_piece(&mut self) -> Result<Option<Vec<f32>>, SpeechError> {
        let Some(phonemes) = self.pieces.pop_front() else { return Ok(None) };
        let how = SpeechParameters { voice: self.voice, speed: self.speed, cancel: &self.cancel };
        let sound = self.synthesizer.synthesize(&phonemes, &how)?;
        let mut piece = vec![0.0; self.pause];
        piece.extend_from_slice(trim::trim_silence(&sound));
        let pause_s = if self.pieces.is_empty() { SENTENCE_PAUSE_S } else { CLAUSE_PAUSE_S };
        self.pause = to_samples(pause_s / self.speed);
        self.read_on()?;
        Ok(Some(piece))
    }
}

impl Iterator for SpeechUtterance<'_> {
    type Item = Result<Vec<f32>, SpeechError>;

    fn next(&mut self) -> Option<Result<Vec<f32>, SpeechError>> {
        if self.cancel.is_cancelled() {
            return None;
        }
        let piece = self.next_piece();
        if self.cancel.is_cancelled() {
            return None;
        }
        if piece.is_err() {
            self.pieces.clear();
        }
        piece.transpose()
    }
}

/// The models accept 510 phonemes but rush through long inputs; shorter pieces also start sooner.
const PHONEMES_MAX: usize = 200;
/// If the first sentence is longer than this, its first clause is spoken separately to start
/// sooner. The clause has a minimum length, because a word or two would be stressed like a
/// sentence.
const FIRST_PHONEMES_MAX: usize = 80;
const FIRST_PHONEMES_MIN: usize = 20;
/// Pauses between sentences, and where a long sentence was split.
const SENTENCE_PAUSE_S: f32 = 0.3;
const CLAUSE_PAUSE_S: f32 = 0.1;

/// False for punctuation only, which has no sound.
fn is_audible(phonemes: &str) -> bool {
    phonemes.chars().any(char::is_alphabetic)
}

fn to_samples(seconds: f32) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "at most two seconds"
    )]
    let samples = (seconds.clamp(0.0, 2.0) * SAMPLE_RATE_HZ as f32) as usize;
    samples
}
