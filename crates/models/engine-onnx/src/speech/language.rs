//! Resources for reading English: dictionaries, the tagger and the model for unknown words.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use phonemes::{EnglishAccent, EnglishPronouncer, PosTagger, PronunciationLexicon};

use super::spelling::SpellingModel;
use super::{SpeechError, read_file, unreadable_error};
use crate::OnnxRuntime;

/// Loads each accent at its first use.
#[derive(Debug)]
pub(super) struct EnglishResources {
    runtime: OnnxRuntime,
    folder: PathBuf,
    loaded: Mutex<AccentCache>,
}

#[derive(Debug, Default)]
struct AccentCache {
    tagger: Option<Arc<PosTagger>>,
    american: Option<Arc<AccentReader>>,
    british: Option<Arc<AccentReader>>,
}

/// The resources of one accent.
#[derive(Debug)]
struct AccentReader {
    english: EnglishPronouncer,
    spelling: Mutex<SpellingModel>,
}

impl EnglishResources {
    pub(super) fn new(runtime: &OnnxRuntime, folder: &Path) -> EnglishResources {
        let runtime = runtime.clone();
        EnglishResources { runtime, folder: folder.to_owned(), loaded: Mutex::default() }
    }

    /// The phonemes of one sentence.
    pub(super) fn sentence_phonemes(
        &self,
        sentence: &str,
        accent: EnglishAccent,
    ) -> Result<String, SpeechError> {
        let reader = self.accent_reader(accent)?;
        let mut spelling = reader.spelling.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(reader.english.pronounce_sentence(sentence, &mut *spelling))
    }

    fn accent_reader(&self, accent: EnglishAccent) -> Result<Arc<AccentReader>, SpeechError> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match accent {
            EnglishAccent::American => &loaded.american,
            EnglishAccent::British => &loaded.british,
        };
        if let Some(reader) = known {
            return Ok(reader.clone());
        }
        let tagger = match &loaded.tagger {
            Some(tagger) => tagger.clone(),
            None => self.load_tagger()?,
        };
        loaded.tagger = Some(tagger.clone());
        let reader = Arc::new(self.load_accent(accent, tagger)?);
        match accent {
            EnglishAccent::American => loaded.american = Some(reader.clone()),
            EnglishAccent::British => loaded.british = Some(reader.clone()),
        }
        Ok(reader)
    }

    fn load_tagger(&self) -> Result<Arc<PosTagger>, SpeechError> {
        let path = self.folder.join("tagger.json.gz");
        let tagger =
            PosTagger::load(&read_file(&path)?).map_err(|error| unreadable_error(&path, error))?;
        Ok(Arc::new(tagger))
    }

    fn load_accent(
        &self,
        accent: EnglishAccent,
        tagger: Arc<PosTagger>,
    ) -> Result<AccentReader, SpeechError> {
        let (code, spelling) = match accent {
            EnglishAccent::American => ("us", "oov"),
            EnglishAccent::British => ("gb", "oov_gb"),
        };
        let checked = self.folder.join(format!("lexicon_{code}_gold.json.gz"));
        let guessed = self.folder.join(format!("lexicon_{code}_silver.json.gz"));
        let lexicon =
            PronunciationLexicon::load(accent, &read_file(&checked)?, &read_file(&guessed)?)
                .map_err(|error| unreadable_error(&checked, error))?;
        let english = EnglishPronouncer::new(lexicon, tagger)
            .map_err(|error| unreadable_error(&checked, error))?;
        let spelling = SpellingModel::load(&self.runtime, &self.folder, spelling)?;
        Ok(AccentReader { english, spelling: Mutex::new(spelling) })
    }
}
