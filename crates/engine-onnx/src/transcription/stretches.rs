//! Cuts a sound into stretches of speech, at pauses, and leaves silence out.
//!
//! Speech is what is louder than the quietest that was heard lately. A model is never given more
//! than `hard_s` at once, so this also bounds memory.

use super::SAMPLE_RATE;

/// How long a model likes to listen.
pub(super) struct Pace {
    /// Silence this long always ends a stretch.
    pub(super) silence_s: f32,
    /// After `soft_s`, a pause of `pause_s` ends it.
    pub(super) soft_s: f32,
    pub(super) pause_s: f32,
    /// After this long it is cut where it is quietest.
    pub(super) hard_s: f32,
}

pub(super) struct Stretch {
    pub(super) start_s: f64,
    pub(super) samples: Vec<f32>,
}

pub(super) struct Splitter {
    pace: &'static Pace,
    /// What does not fill a frame yet.
    partial: Vec<f32>,
    samples: Vec<f32>,
    /// One number per frame of `samples`.
    loudness_db: Vec<f32>,
    start_frame: u64,
    floor_db: f32,
    has_speech: bool,
    quiet_frames: usize,
}

/// 20 milliseconds.
const FRAME_SAMPLES: usize = SAMPLE_RATE as usize / 50;
const FRAMES_PER_S: f32 = 50.0;
/// What is kept of the silence before and after speech: soft consonants are in it.
const MARGIN_FRAMES: usize = 15;
/// How much louder than the background speech is.
const ABOVE_FLOOR_DB: f32 = 10.0;
/// The background is taken to get louder by this much a frame, until a quieter one is heard.
const FLOOR_RISE_DB: f32 = 0.02;
const FLOOR_MIN_DB: f32 = -75.0;
/// Whatever the background, what is this quiet is silence and what is this loud is not.
const SILENT_DB: f32 = -58.0;
const LOUD_DB: f32 = -35.0;
/// How many frames are looked at together when a place to cut is sought.
const CUT_FRAMES: usize = 5;

impl Splitter {
    pub(super) fn new(pace: &'static Pace) -> Splitter {
        Splitter {
            pace,
            partial: Vec::new(),
            samples: Vec::new(),
            loudness_db: Vec::new(),
            start_frame: 0,
            // The first frame is the background until a quieter one is heard.
            floor_db: f32::INFINITY,
            has_speech: false,
            quiet_frames: 0,
        }
    }

    /// Takes a block and gives the stretches that it completes.
    pub(super) fn push(&mut self, block: &[f32]) -> Vec<Stretch> {
        self.partial.extend_from_slice(block);
        let partial = std::mem::take(&mut self.partial);
        let mut frames = partial.chunks_exact(FRAME_SAMPLES);
        let stretches = frames.by_ref().filter_map(|frame| self.frame(frame)).collect();
        self.partial = frames.remainder().to_vec();
        stretches
    }

    /// The last stretch, if anything was said in it.
    pub(super) fn finish(mut self) -> Option<Stretch> {
        let rest = std::mem::take(&mut self.partial);
        if !rest.is_empty() {
            let mut frame = rest;
            frame.resize(FRAME_SAMPLES, 0.0);
            if let Some(stretch) = self.frame(&frame) {
                return Some(stretch);
            }
        }
        let frames = self.loudness_db.len();
        self.has_speech.then(|| self.take(frames))
    }

    /// How long everything that came in so far is.
    pub(super) fn heard_s(&self) -> f64 {
        let frames = self.start_frame + self.loudness_db.len() as u64;
        let samples = frames * FRAME_SAMPLES as u64 + self.partial.len() as u64;
        samples as f64 / f64::from(SAMPLE_RATE)
    }

    fn frame(&mut self, frame: &[f32]) -> Option<Stretch> {
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
            return Some(self.take(frames));
        }
        (self.pace.hard_s <= length_s).then(|| self.take(self.quietest()))
    }

    fn threshold_db(&self) -> f32 {
        (self.floor_db + ABOVE_FLOOR_DB).clamp(SILENT_DB, LOUD_DB)
    }

    /// The frame to cut at: the middle of the quietest place in the second half.
    fn quietest(&self) -> usize {
        let half = self.loudness_db.len() / 2;
        let sums = self.loudness_db[half..].windows(CUT_FRAMES).map(|it| it.iter().sum::<f32>());
        let quietest = sums.enumerate().min_by(|(_, one), (_, other)| one.total_cmp(other));
        quietest.map_or(self.loudness_db.len(), |(index, _)| half + index + CUT_FRAMES / 2)
    }

    /// Takes the first frames as a stretch, without most of the silence at its end.
    fn take(&mut self, frames: usize) -> Stretch {
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
        Stretch { start_s, samples }
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
