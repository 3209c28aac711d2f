//! Engines of speech and transcription models.

use std::sync::Arc;

use engine::{SpeechEngine, TranscriptionEngine};

use super::{ProviderProtocol, ProviderSetupError, UpstreamProvider};
use crate::openai::{OpenAiSpeech, OpenAiTranscription};
use crate::whispercpp::WhisperCpp;

impl UpstreamProvider {
    /// Creates the engine of a speech model.
    pub fn create_speech_engine(
        &self,
        model: &str,
    ) -> Result<Arc<dyn SpeechEngine>, ProviderSetupError> {
        match self.protocol {
            ProviderProtocol::OpenAi(quirks) => Ok(Arc::new(OpenAiSpeech {
                endpoint: self.endpoint("audio/speech"),
                voices: self.endpoint("audio/voices"),
                model: model.to_owned(),
                quirks,
            })),
            _ => Err(self.unsupported_work("speech")),
        }
    }

    /// Creates the engine of a transcription model.
    pub fn create_transcription_engine(
        &self,
        model: &str,
    ) -> Result<Arc<dyn TranscriptionEngine>, ProviderSetupError> {
        match self.protocol {
            ProviderProtocol::OpenAi(_) => Ok(Arc::new(OpenAiTranscription {
                endpoint: self.endpoint("audio/transcriptions"),
                translations: self.endpoint("audio/translations"),
                model: model.to_owned(),
            })),
            ProviderProtocol::WhisperCpp => {
                Ok(Arc::new(WhisperCpp { inference: self.endpoint("inference") }))
            }
            _ => Err(self.unsupported_work("transcription")),
        }
    }
}
