//! Transcripts as subtitles. A transcript without segments becomes one cue.

use std::fmt::Write;
use std::time::Duration;

use engine::TranscriptionAnswer;

pub(super) fn format_srt(transcript: &TranscriptionAnswer, length_s: f64) -> String {
    let mut file = String::new();
    for (number, cue) in (1..).zip(build_cues(transcript, length_s)) {
        let (start, end) = (format_clock(cue.start_s, ','), format_clock(cue.end_s, ','));
        let _ = write!(file, "{number}\n{start} --> {end}\n{}\n\n", cue.text);
    }
    file
}

pub(super) fn format_vtt(transcript: &TranscriptionAnswer, length_s: f64) -> String {
    let mut file = "WEBVTT\n\n".to_owned();
    for cue in build_cues(transcript, length_s) {
        let (start, end) = (format_clock(cue.start_s, '.'), format_clock(cue.end_s, '.'));
        let _ = write!(file, "{start} --> {end}\n{}\n\n", cue.text);
    }
    file
}

struct SubtitleCue {
    start_s: f64,
    end_s: f64,
    text: String,
}

fn build_cues(transcript: &TranscriptionAnswer, length_s: f64) -> Vec<SubtitleCue> {
    let cue =
        |start_s, end_s, text: &str| SubtitleCue { start_s, end_s, text: sanitize_cue_text(text) };
    let segments = transcript.segments.iter();
    let mut cues: Vec<SubtitleCue> =
        segments.map(|it| cue(it.start_s, it.end_s, &it.text)).collect();
    if cues.is_empty() {
        cues.push(cue(0.0, length_s, &transcript.text));
    }
    cues.retain(|cue| !cue.text.is_empty());
    cues
}

/// Removes line breaks and arrows, which would end the cue or begin another.
fn sanitize_cue_text(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace("-->", "→")
}

fn format_clock(seconds: f64, point: char) -> String {
    let ms = Duration::try_from_secs_f64(seconds).unwrap_or_default().as_millis();
    let (hours, minutes) = (ms / 3_600_000, ms / 60_000 % 60);
    format!("{hours:02}:{minutes:02}:{:02}{point}{:03}", ms / 1000 % 60, ms % 1000)
}

#[cfg(test)]
mod tests {
    use engine::TranscriptionSegment;
    use expect_test::expect;

    use super::*;

    fn segment(start_s: f64, end_s: f64, text: &str) -> TranscriptionSegment {
        TranscriptionSegment { text: text.to_owned(), start_s, end_s, certainty: None }
    }

    #[test]
    fn each_segment_is_a_cue_of_one_line() {
        let transcript = TranscriptionAnswer {
            segments: vec![
                segment(0.0, 2.5, " Hello\nthere. "),
                segment(2.5, 3.0, "  "),
                segment(3661.25, 3662.999, "1 --> 2"),
            ],
            ..TranscriptionAnswer::default()
        };
        expect![[r"
            1
            00:00:00,000 --> 00:00:02,500
            Hello there.

            2
            01:01:01,250 --> 01:01:02,999
            1 → 2

        "]]
        .assert_eq(&format_srt(&transcript, 4000.0));
        expect![[r"
            WEBVTT

            00:00:00.000 --> 00:00:02.500
            Hello there.

            01:01:01.250 --> 01:01:02.999
            1 → 2

        "]]
        .assert_eq(&format_vtt(&transcript, 4000.0));
    }

    #[test]
    fn a_text_without_segments_is_one_cue() {
        let transcript =
            TranscriptionAnswer { text: "Hello.".to_owned(), ..TranscriptionAnswer::default() };
        expect![[r"
            1
            00:00:00,000 --> 00:00:01,500
            Hello.

        "]]
        .assert_eq(&format_srt(&transcript, 1.5));
    }
}
