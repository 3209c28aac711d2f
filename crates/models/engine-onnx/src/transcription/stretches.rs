//! Splits audio into stretches of speech at pauses, and drops silence.
//!
//! Speech is what is louder than the recent background level. A model is never given more than
//! `hard_s` at once, which also bounds memory.

use super::SAMPLE_RATE;

/// The stretch lengths that suit a model.
pub(super) struct StretchLimits {
    /// Silence that always ends a stretch.
    pub(super) silence_s: f32,
    /// After `soft_s`, a pause of `pause_s` ends the stretch.
    pub(super) soft_s: f32,
    pub(super) pause_s: f32,
    /// Maximum length; the stretch is then cut at its quietest point.
    pub(super) hard_s: f32,
}

pub(super) struct SpeechStretch {
    pub(super) start_s: f64,
    pub(super) samples: Vec<f32>,
}

pub(super) struct StretchSplitter {
    pace: &'static StretchLimits,
    /// Samples that do not fill a frame yet.
    partial: Vec<f32>,
    samples: Vec<f32>,
    /// One value per frame of `samples`.
    loudness_db: Vec<f32>,
    start_frame: u64,
    floor_db: f32,
    has_speech: bool,
    quiet_frames: usize,
}

/// 20 milliseconds.
const FRAME_SAMPLES: usize = SAMPLE_RATE as usize / 50;
const FRAMES_PER_S: f32 = 50.0;
/// Silence kept before and after speech, because it contains soft consonants.
const MARGIN_FRAMES: usize = 15;
/// Level of speech above the background.
const ABOVE_FLOOR_DB: f32 = 10.0;
/// The background estimate rises by this per frame until a quieter frame arrives.
const FLOOR_RISE_DB: f32 = 0.02;
const FLOOR_MIN_DB: f32 = -75.0;
/// Limits of the threshold: quieter is always silence, louder always speech.
const SILENT_DB: f32 = -58.0;
const LOUD_DB: f32 = -35.0;
/// Frames that are averaged when searching for a cutting point.
const CUT_FRAMES: usize = 5;

impl StretchSplitter {
    pub(super) fn new(pace: &'static StretchLimits) -> StretchSplitter {
        StretchSplitter {
            pace,
            partial: Vec::new(),
            samples: Vec::new(),
            loudness_db: Vec::new(),
            start_frame: 0,
            // The first frame sets the background level.
            floor_db: f32::INFINITY,
            has_speech: false,
            quiet_frames: 0,
        }
    }

    /// Adds a block and returns the completed stretches.
    pub(super) fn push(&mut self, block: &[f32]) -> Vec<SpeechStretch> {
        self.partial.extend_from_slice(block);
        let partial = std::mem::take(&mut self.partial);
        let mut frames = partial.chunks_exact(FRAME_SAMPLES);
        let stretches = frames.by_ref().filter_map(|frame| self.push_frame(frame)).collect();
        self.partial = frames.remainder().to_vec();
        stretches
    }

    /// Returns the last stretch, if it contains speech.
    pub(super) fn finish(mut self) -> Option<SpeechStretch> {
        let rest = std::mem::take(&mut self.partial);
        if !rest.is_empty() {
            let mut frame = rest;
            frame.resize(FRAME_SAMPLES, 0.0);
            if let Some(stretch) = self.push_frame(&frame) {
                return Some(stretch);
            }
        }
        let frames = self.loudness_db.len();
        self.has_speech.then(|| self.take_stretch(frames))
    }

    /// Total length of the input so far, in seconds.
    pub(super) fn heard_s(&self) -> f64 {
        let frames = self.start_frame + self.loudness_db.len() as u64;
        let samples = frames * FRAME_SAMPLES as u64 + self.partial.len() as u64;
        samples as f64 / f64::from(SAMPLE_RATE)
    }

    fn push_frame(&mut self, frame: &[f32]) -> Option<SpeechStretch> {
        let loudness_db = loudness_db(frame);
        self.floor_db = (self.floor_db + FLOOR_RISE_DB).min(loudness_db).max(FLOOR_MIN_DB);
        self.samples.extend_from_slice(frame);
        self.loudness_db.push(loudness_db);
        if self.threshold_db() < loudness_db {
            self.has_speech = true;
            self.quiet_frames = 0;
        } else {
            self.quiet_frames += 1;
        }
        let frames = self.loudness_db.len();
        if !self.has_speech {
            self.drop_before(frames.saturating_sub(MARGIN_FRAMES));
            return None;
        }
        let length_s = frames as f32 / FRAMES_PER_S;
        let quiet_s = self.quiet_frames as f32 / FRAMES_PER_S;
        let is_pause = self.pace.soft_s <= length_s && self.pace.pause_s <= quiet_s;
        if is_pause || self.pace.silence_s <= quiet_s {
            return Some(self.take_stretch(frames));
        }
        (self.pace.hard_s <= length_s).then(|| self.take_stretch(self.find_quietest()))
    }

    fn threshold_db(&self) -> f32 {
        (self.floor_db + ABOVE_FLOOR_DB).clamp(SILENT_DB, LOUD_DB)
    }

    /// The cutting point: the middle of the quietest frames in the second half.
    fn find_quietest(&self) -> usize {
        let half = self.loudness_db.len() / 2;
        let sums = self.loudness_db[half..].windows(CUT_FRAMES).map(|it| it.iter().sum::<f32>());
        let quietest = sums.enumerate().min_by(|(_, one), (_, other)| one.total_cmp(other));
        quietest.map_or(self.loudness_db.len(), |(index, _)| half + index + CUT_FRAMES / 2)
    }

    /// Removes the first frames as a stretch, without most of the silence at its end.
    fn take_stretch(&mut self, frames: usize) -> SpeechStretch {
        let threshold_db = self.threshold_db();
        let spoken = self.loudness_db[..frames].iter().rposition(|it| threshold_db < *it);
        let kept = spoken.map_or(frames, |last| frames.min(last + 1 + MARGIN_FRAMES));
        let samples = self.samples[..kept * FRAME_SAMPLES].to_vec();
        let start_s = self.start_frame as f64 / f64::from(FRAMES_PER_S);
        self.drop_before(frames);
        self.has_speech = self.loudness_db.iter().any(|it| threshold_db < *it);
        if !self.has_speech {
            self.quiet_frames = self.loudness_db.len();
        }
        SpeechStretch { start_s, samples }
    }

    fn drop_before(&mut self, frames: usize) {
        self.samples.drain(..frames * FRAME_SAMPLES);
        self.loudness_db.drain(..frames);
        self.start_frame += frames as u64;
    }
}

fn loudness_db(frame: &[f32]) -> f32 {
    let power = frame.iter().map(|it| it * it).sum::<f32>() / frame.len() as f32;
    10.0 * power.max(1e-10).log10()
}
