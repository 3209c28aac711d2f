//! Resources for reading English: dictionaries, the tagger and the model for unknown words.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use phonemes::{Accent, English, Lexicon, Tagger};

use super::spelling::Spelling;
use super::{Error, read, unreadable};
use crate::Runtime;

/// Loads each accent at its first use.
#[derive(Debug)]
pub(super) struct Language {
    runtime: Runtime,
    folder: PathBuf,
    loaded: Mutex<Loaded>,
}

#[derive(Debug, Default)]
struct Loaded {
    tagger: Option<Arc<Tagger>>,
    american: Option<Arc<Reader>>,
    british: Option<Arc<Reader>>,
}

/// The resources of one accent.
#[derive(Debug)]
struct Reader {
    english: English,
    spelling: Mutex<Spelling>,
}

impl Language {
    pub(super) fn new(runtime: &Runtime, folder: &Path) -> Language {
        let runtime = runtime.clone();
        Language { runtime, folder: folder.to_owned(), loaded: Mutex::default() }
    }

    /// The phonemes of one sentence.
    pub(super) fn phonemes(&self, sentence: &str, accent: Accent) -> Result<String, Error> {
        let reader = self.reader(accent)?;
        let mut spelling = reader.spelling.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(reader.english.phonemes(sentence, &mut *spelling))
    }

    fn reader(&self, accent: Accent) -> Result<Arc<Reader>, Error> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match accent {
            Accent::American => &loaded.american,
            Accent::British => &loaded.british,
        };
        if let Some(reader) = known {
            return Ok(reader.clone());
        }
        let tagger = match &loaded.tagger {
            Some(tagger) => tagger.clone(),
            None => self.tagger()?,
        };
        loaded.tagger = Some(tagger.clone());
        let reader = Arc::new(self.load(accent, tagger)?);
        match accent {
            Accent::American => loaded.american = Some(reader.clone()),
            Accent::British => loaded.british = Some(reader.clone()),
        }
        Ok(reader)
    }

    fn tagger(&self) -> Result<Arc<Tagger>, Error> {
        let path = self.folder.join("tagger.json.gz");
        let tagger = Tagger::load(&read(&path)?).map_err(|error| unreadable(&path, error))?;
        Ok(Arc::new(tagger))
    }

    fn load(&self, accent: Accent, tagger: Arc<Tagger>) -> Result<Reader, Error> {
        let (code, spelling) = match accent {
            Accent::American => ("us", "oov"),
            Accent::British => ("gb", "oov_gb"),
        };
        let checked = self.folder.join(format!("lexicon_{code}_gold.json.gz"));
        let guessed = self.folder.join(format!("lexicon_{code}_silver.json.gz"));
        let lexicon = Lexicon::load(accent, &read(&checked)?, &read(&guessed)?)
            .map_err(|error| unreadable(&checked, error))?;
        let english = English::new(lexicon, tagger).map_err(|error| unreadable(&checked, error))?;
        let spelling = Spelling::load(&self.runtime, &self.folder, spelling)?;
        Ok(Reader { english, spelling: Mutex::new(spelling) })
    }
}
