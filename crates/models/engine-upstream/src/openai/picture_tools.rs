//! Image operations of the built-in engine beyond OpenAI's protocol: requests are forms, responses
//! a PNG or a score.

use engine::{EngineError, ImageAnswer, ImageClassifier, ImageFile, PictureSize};
use futures_util::future::BoxFuture;
use outbound::{FormFile, RequestContent};
use serde::Deserialize;

use crate::transport::{UpstreamEndpoint, bad_answer};

pub(crate) struct PictureTools {
    pub(crate) upscales: UpstreamEndpoint,
    pub(crate) cutouts: UpstreamEndpoint,
}

impl PictureTools {
    pub(crate) async fn upscale(
        &self,
        model: &str,
        picture: &ImageFile,
        size: PictureSize,
    ) -> Result<ImageAnswer, EngineError> {
        let size = ("size", format!("{}x{}", size.width, size.height));
        let fields = [("model", model.to_owned()), size];
        let file = self.upscales.post_content(build_form(&fields, picture)).await?;
        Ok(ImageAnswer { file, ..ImageAnswer::default() })
    }

    pub(crate) async fn cut_out(
        &self,
        model: &str,
        picture: &ImageFile,
    ) -> Result<ImageAnswer, EngineError> {
        let fields = [("model", model.to_owned())];
        let file = self.cutouts.post_content(build_form(&fields, picture)).await?;
        Ok(ImageAnswer { file, ..ImageAnswer::default() })
    }
}

/// The image classifier of the built-in engine.
pub(crate) struct BuiltInClassifier {
    pub(crate) safety: UpstreamEndpoint,
    pub(crate) model: String,
}

#[derive(Deserialize)]
struct SafetyScore {
    adult: f64,
}

impl ImageClassifier for BuiltInClassifier {
    fn adult_score(&self, picture: ImageFile) -> BoxFuture<'_, Result<f64, EngineError>> {
        Box::pin(async move {
            let fields = [("model", self.model.clone())];
            let answer = self.safety.post_content(build_form(&fields, &picture)).await?;
            let verdict: SafetyScore = serde_json::from_slice(&answer)
                .map_err(|error| bad_answer(format!("it is no verdict: {error}")))?;
            Ok(verdict.adult)
        })
    }
}

fn build_form(fields: &[(&'static str, String)], picture: &ImageFile) -> RequestContent {
    let name = format!("image.{}", picture.kind.extension);
    let (mime, bytes) = (picture.kind.mime, picture.bytes.clone());
    RequestContent::form_of_files(fields, &[("image", FormFile { name: &name, mime, bytes })])
}
