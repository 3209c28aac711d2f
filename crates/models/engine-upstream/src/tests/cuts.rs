//! Streams split at every byte decode the same; streams truncated at any byte are an error.

use engine::{ChatEvent, FinishReason};

use super::golden::{decode_as, streams};
use super::tell;

#[test]
fn a_stream_cut_in_two_anywhere_reads_the_same() {
    for (path, bytes) in streams() {
        let (events, outcome) = decode_as(&path, &[&bytes]);
        let expected = tell::events(&events, &outcome);
        for at in 0..bytes.len() {
            let (events, outcome) = decode_as(&path, &[&bytes[..at], &bytes[at..]]);
            assert_eq!(tell::events(&events, &outcome), expected, "{path:?} cut at {at}");
        }
    }
}

#[test]
fn a_stream_cut_short_gives_its_beginning_and_an_error_unless_it_had_finished() {
    for (path, bytes) in streams() {
        let whole = decode_as(&path, &[&bytes]).0;
        let choices = whole.iter().flat_map(finishes).count();
        let told: Vec<String> = whole.iter().map(tell::event).collect();
        for at in 0..bytes.len() {
            let (events, outcome) = decode_as(&path, &[&bytes[..at]]);
            let finished = events.iter().flat_map(finishes).count();
            let is_whole = 0 < finished && finished == choices;
            assert!(outcome.is_err() || is_whole, "{path:?} cut at {at} passes for an answer");
            let part: Vec<String> =
                events.iter().filter(|it| !is_usage(it)).map(tell::event).collect();
            assert_eq!(part, told[..part.len()], "{path:?} cut at {at}");
        }
    }
}

fn finishes(event: &ChatEvent) -> Vec<FinishReason> {
    match event {
        ChatEvent::Chunk(chunk) => chunk.deltas.iter().filter_map(|it| it.finish).collect(),
        ChatEvent::Served(_)
        | ChatEvent::UpstreamId(_)
        | ChatEvent::Progress(_)
        | ChatEvent::Usage(_) => Vec::new(),
    }
}

fn is_usage(event: &ChatEvent) -> bool {
    matches!(event, ChatEvent::Usage(_))
}
