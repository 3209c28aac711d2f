//! Inflected words whose stem is in the dictionary: plurals, past tenses and participles.

use super::{EnglishAccent, LexiconLookup, PronunciationLexicon};
use crate::stress::StressChange;

impl PronunciationLexicon {
    pub(super) fn pronounce_inflected(&self, word: &str, asked: LexiconLookup) -> Option<String> {
        self.with_s(word, asked)
            .or_else(|| self.with_ed(word, asked))
            .or_else(|| self.with_ing(word, asked))
    }

    fn with_s(&self, word: &str, asked: LexiconLookup) -> Option<String> {
        let stem = word.strip_suffix('s').filter(|it| 2 <= it.len())?;
        let candidates = [
            (!stem.ends_with('s')).then(|| stem.to_owned()),
            stem.strip_suffix('\'').map(str::to_owned),
            stem.strip_suffix('e')
                .filter(|it| 2 < it.len() && !it.ends_with('i'))
                .map(str::to_owned),
            stem.strip_suffix("ie").filter(|it| 1 < it.len()).map(|it| format!("{it}y")),
        ];
        let stem = self.find_pronunciation(&self.first_known(candidates)?, asked)?;
        self.sound_of_s(&stem)
    }

    fn with_ed(&self, word: &str, asked: LexiconLookup) -> Option<String> {
        let stem = word.strip_suffix('d').filter(|it| 3 <= it.len())?;
        let candidates = [
            (!stem.ends_with('d')).then(|| stem.to_owned()),
            stem.strip_suffix('e')
                .filter(|it| 2 < it.len() && !it.ends_with('e'))
                .map(str::to_owned),
        ];
        let stem = self.find_pronunciation(&self.first_known(candidates)?, asked)?;
        self.sound_of_ed(&stem)
    }

    fn with_ing(&self, word: &str, asked: LexiconLookup) -> Option<String> {
        let stem = word.strip_suffix("ing").filter(|it| 2 <= it.len())?;
        let candidates = [
            (2 < stem.len()).then(|| stem.to_owned()),
            Some(format!("{stem}e")),
            (2 < stem.len()).then(|| strip_doubled_consonant(stem)).flatten().map(str::to_owned),
        ];
        let lifted = match asked.stress {
            StressChange::AsWritten => LexiconLookup { stress: StressChange::Lifted, ..asked },
            _ => asked,
        };
        let stem = self.find_pronunciation(&self.first_known(candidates)?, lifted)?;
        self.sound_of_ing(&stem)
    }

    fn first_known<const N: usize>(&self, candidates: [Option<String>; N]) -> Option<String> {
        candidates.into_iter().flatten().find(|it| self.can_pronounce(it))
    }

    fn sound_of_s(&self, stem: &str) -> Option<String> {
        let last = stem.chars().next_back()?;
        let ending = match last {
            'p' | 't' | 'k' | 'f' | 'θ' => "s",
            's' | 'z' | 'ʃ' | 'ʒ' | 'ʧ' | 'ʤ' if self.accent == EnglishAccent::British => "ɪz",
            's' | 'z' | 'ʃ' | 'ʒ' | 'ʧ' | 'ʤ' => "ᵻz",
            _ => "z",
        };
        Some(format!("{stem}{ending}"))
    }

    fn sound_of_ed(&self, stem: &str) -> Option<String> {
        let mut backwards = stem.chars().rev();
        let last = backwards.next()?;
        let american = self.accent == EnglishAccent::American;
        let ending = match last {
            'p' | 'k' | 'f' | 'θ' | 'ʃ' | 's' | 'ʧ' => "t",
            'd' if american => "ᵻd",
            'd' => "ɪd",
            't' if american && backwards.next().is_some_and(is_flapping) => {
                return Some(format!("{}ɾᵻd", stem.strip_suffix('t')?));
            }
            't' if american && 1 < stem.chars().count() => "ᵻd",
            't' => "ɪd",
            _ => "d",
        };
        Some(format!("{stem}{ending}"))
    }

    fn sound_of_ing(&self, stem: &str) -> Option<String> {
        let mut backwards = stem.chars().rev();
        match (self.accent, backwards.next()?) {
            // A silent r would become audible, and the dictionary does not mark silent ones.
            (EnglishAccent::British, 'ə' | 'ː') => None,
            (EnglishAccent::American, 't') if backwards.next().is_some_and(is_flapping) => {
                Some(format!("{}ɾɪŋ", stem.strip_suffix('t')?))
            }
            _ => Some(format!("{stem}ɪŋ")),
        }
    }
}

/// After these, an American t between vowels becomes a flap: wait, waiting.
fn is_flapping(phoneme: char) -> bool {
    "AIOWYiuæɑəɛɪɹʊʌ".contains(phoneme)
}

/// The stem without a doubled consonant: runn, and panick.
fn strip_doubled_consonant(stem: &str) -> Option<&str> {
    let mut backwards = stem.chars().rev();
    let last = backwards.next()?;
    let before = backwards.next()?;
    let doubled = last == before && "bcdgklmnprstvxz".contains(last);
    if doubled || stem.ends_with("ck") { stem.strip_suffix(last) } else { None }
}
