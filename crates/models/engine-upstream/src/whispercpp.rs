//! whisper.cpp's server: the request is a form, the response JSON in OpenAI's formats.

use std::sync::Arc;

use engine::{EngineError, TranscriptionAnswer, TranscriptionEngine, TranscriptionRequest};
use futures_util::future::BoxFuture;
use outbound::{FormFile, RequestContent};

use crate::openai::read_transcript;
use crate::transport::UpstreamEndpoint;

/// One server with one model.
pub(crate) struct WhisperCpp {
    pub(crate) inference: UpstreamEndpoint,
}

impl TranscriptionEngine for WhisperCpp {
    fn transcribe(
        &self,
        request: Arc<TranscriptionRequest>,
    ) -> BoxFuture<'_, Result<TranscriptionAnswer, EngineError>> {
        Box::pin(async move { self.send_form(&request, form_fields(&request)).await })
    }

    fn translate(
        &self,
        request: Arc<TranscriptionRequest>,
    ) -> BoxFuture<'_, Result<Option<TranscriptionAnswer>, EngineError>> {
        Box::pin(async move {
            let mut fields = form_fields(&request);
            fields.push(("translate", "true".to_owned()));
            self.send_form(&request, fields).await.map(Some)
        })
    }
}

impl WhisperCpp {
    async fn send_form(
        &self,
        request: &TranscriptionRequest,
        fields: Vec<(&'static str, String)>,
    ) -> Result<TranscriptionAnswer, EngineError> {
        let name = format!("audio.{}", request.kind.extension);
        let (mime, bytes) = (request.kind.mime, request.sound.clone());
        let form = RequestContent::form(&fields, FormFile { name: &name, mime, bytes });
        let transcript = read_transcript(&self.inference.post_content(form).await?)?;
        // The server starts each text with a space.
        let text = transcript.text.trim().to_owned();
        Ok(TranscriptionAnswer { text, ..transcript })
    }
}

pub(crate) fn form_fields(request: &TranscriptionRequest) -> Vec<(&'static str, String)> {
    let format = if request.times.any() { "verbose_json" } else { "json" };
    let mut fields = vec![("response_format", format.to_owned())];
    // Without a language the server assumes English.
    let language = request.language.clone().unwrap_or_else(|| "auto".to_owned());
    fields.push(("language", language));
    fields.extend(request.hint.clone().map(|it| ("prompt", it)));
    fields.extend(request.temperature.map(|it| ("temperature", it.to_string())));
    fields
}
