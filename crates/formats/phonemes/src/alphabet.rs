//! The phoneme alphabet of Kokoro and the models distilled from it.
//!
//! It is the International Phonetic Alphabet with one capital letter for each English diphthong
//! (`A` as in day, `I` as in my, `O` as in go, `Q` as in British go, `W` as in now, `Y` as in boy)
//! and `T` for the flapped t of water.

/// The model's input for phonemes, with padding at both ends. Characters outside of the alphabet
/// are dropped.
pub fn encode_phonemes(phonemes: &str) -> Vec<i64> {
    let pad = std::iter::once(PAD);
    pad.clone().chain(phonemes.chars().filter_map(phoneme_id)).chain(pad).collect()
}

const PAD: i64 = 0;

fn phoneme_id(phoneme: char) -> Option<i64> {
    RUNS.iter()
        .find_map(|(first, run)| (*first..).zip(run.chars()).find(|(_, it)| *it == phoneme))
        .map(|(phoneme_id, _)| phoneme_id)
}

pub(crate) fn is_vowel(phoneme: char) -> bool {
    "AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻ".contains(phoneme)
}

pub(crate) fn is_consonant(phoneme: char) -> bool {
    "bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθ".contains(phoneme)
}

/// Approximate duration: diphthongs and affricates take about twice as long as others.
pub(crate) fn estimate_duration(phonemes: &str) -> usize {
    phonemes.chars().map(|it| if "AIOQWYʤʧ".contains(it) { 2 } else { 1 }).sum()
}

/// True for punctuation at which the voice pauses or changes pitch.
pub(crate) fn is_pause(phoneme: char) -> bool {
    ";:,.!?—…".contains(phoneme)
}

pub(crate) const PRIMARY: char = 'ˈ';
pub(crate) const SECONDARY: char = 'ˌ';

/// Phoneme ids in the models' embedding table: runs of consecutive ids, with the first id of each.
const RUNS: [(i64, &str); 27] = [
    (1, ";:,.!?"),
    (9, "—…\"()“” \u{303}ʣʥʦʨᵝꭧAI"),
    (31, "O"),
    (33, "Q"),
    (35, "ST"),
    (39, "W"),
    (41, "Yᵊabcdef"),
    (50, "hijklmnopqrstuvwxyzɑɐɒæ"),
    (75, "βɔɕç"),
    (80, "ɖðʤə"),
    (85, "ɚɛɜ"),
    (90, "ɟ"),
    (92, "ɡ"),
    (99, "ɥ"),
    (101, "ɨɪʝ"),
    (110, "ɯɰŋɳɲɴø"),
    (118, "ɸθœ"),
    (123, "ɹ"),
    (125, "ɾɻ"),
    (128, "ʁɽʂʃʈʧ"),
    (135, "ʊʋ"),
    (138, "ʌɣɤ"),
    (142, "χʎ"),
    (147, "ʒʔ"),
    (156, "ˈˌː"),
    (162, "ʰ"),
    (177, "ᵻ"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_lies_between_pads_and_unknown_signs_are_left_out() {
        assert_eq!(encode_phonemes("hˈI 七."), [0, 50, 156, 25, 16, 4, 0]);
    }

    #[test]
    fn every_sound_that_the_rules_speak_of_is_in_the_alphabet() {
        let known = |it: &char| phoneme_id(*it).is_some();
        let spoken = "AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻbdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθˈˌ;:,.!?—…";
        assert_eq!(spoken.chars().filter(|it| !known(it)).collect::<String>(), "");
    }
}
