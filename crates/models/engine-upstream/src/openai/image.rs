//! Images of an OpenAI-style server: requests are JSON or a form, responses base64.

use std::sync::Arc;

use engine::{
    CutOutRequest, EditRequest, EngineError, ImageAnswer, ImageEngine, ImageFuture, ImageRequest,
    RequestedImageSize, UpscaleRequest,
};
use outbound::{FormFile, RequestContent};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::picture_tools::PictureTools;
use crate::ServerQuirks;
use crate::failure::UpstreamFailure;
use crate::picture;
use crate::transport::{UpstreamEndpoint, bad_answer};

/// One model behind one OpenAI-style server.
pub(crate) struct OpenAiImages {
    pub(crate) generations: UpstreamEndpoint,
    pub(crate) edits: UpstreamEndpoint,
    /// Only the built-in engine has these.
    pub(crate) tools: Option<PictureTools>,
    pub(crate) model: String,
    pub(crate) quirks: ServerQuirks,
}

impl ImageEngine for OpenAiImages {
    fn generate(&self, request: Arc<ImageRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let body = write_image(&request, &self.model, self.quirks).to_string();
            let answer = self.generations.post_json(body.into_bytes()).await?;
            self.read(&self.generations, &answer).await
        })
    }

    fn edit(&self, request: Arc<EditRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let fields = edit_fields(&request, &self.model, self.quirks);
            let names: Vec<String> = (1..)
                .zip(&request.pictures)
                .map(|(number, it)| format!("image-{number}.{}", it.kind.extension))
                .collect();
            let mut files: Vec<(&'static str, FormFile<'_>)> = Vec::new();
            for (name, it) in names.iter().zip(&request.pictures) {
                let (mime, bytes) = (it.kind.mime, it.bytes.clone());
                files.push(("image[]", FormFile { name, mime, bytes }));
            }
            if let Some(mask) = &request.mask {
                let (mime, bytes) = (mask.kind.mime, mask.bytes.clone());
                files.push(("mask", FormFile { name: "mask.png", mime, bytes }));
            }
            let answer =
                self.edits.post_content(RequestContent::form_of_files(&fields, &files)).await?;
            self.read(&self.edits, &answer).await
        })
    }

    fn upscale(&self, request: Arc<UpscaleRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let tools = self.require_tools("enlarge pictures")?;
            tools.upscale(&self.model, &request.picture, request.size).await
        })
    }

    fn cut_out(&self, request: Arc<CutOutRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let tools = self.require_tools("remove backgrounds")?;
            tools.cut_out(&self.model, &request.picture).await
        })
    }

    /// The built-in engine stops when its connection is closed. Others continue.
    fn can_be_stopped(&self) -> bool {
        self.tools.is_some()
    }
}

impl OpenAiImages {
    fn require_tools(&self, work: &str) -> Result<&PictureTools, EngineError> {
        let cause = || format!("its protocol has no way to {work}");
        self.tools.as_ref().ok_or_else(|| EngineError::Misconfigured { cause: cause() })
    }

    async fn read(
        &self,
        endpoint: &UpstreamEndpoint,
        body: &[u8],
    ) -> Result<ImageAnswer, EngineError> {
        let file = match read_image(body)? {
            PictureLocation::Inline(text) => picture::decode_base64(&text)?,
            PictureLocation::At(address) => picture::download_picture(endpoint, &address).await?,
        };
        Ok(ImageAnswer { file, ..ImageAnswer::default() })
    }
}

/// OpenAI's newer models always return base64 and reject `response_format`.
fn needs_explicit_base64(model: &str) -> bool {
    !(model.starts_with("gpt-image") || model.starts_with("chatgpt-image"))
}

fn format_size(frame: &RequestedImageSize) -> String {
    format!("{}x{}", frame.size.width, frame.size.height)
}

pub(crate) fn write_image(request: &ImageRequest, model: &str, quirks: ServerQuirks) -> Value {
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
    put("model", model.into());
    put("prompt", request.prompt.as_str().into());
    put("n", 1.into());
    put("size", format_size(&request.frame).into());
    if let Some(quality) = request.quality {
        put("quality", quality.into());
    }
    if needs_explicit_base64(model) {
        put("response_format", "b64_json".into());
    }
    // OpenAI itself rejects unknown fields.
    if quirks.takes_extensions {
        put("seed", picture::normalize_seed(request.seed).into());
        let further = [
            ("negative_prompt", request.negative_prompt.clone().map(Value::from)),
            ("steps", request.steps.map(Value::from)),
            ("cfg_scale", request.cfg_scale.map(Value::from)),
            ("aspect_ratio", request.frame.aspect_ratio.clone().map(Value::from)),
            ("resolution", request.frame.resolution.clone().map(Value::from)),
        ];
        for (name, value) in further {
            if let Some(value) = value {
                put(name, value);
            }
        }
        if request.web_search {
            put("enable_web_search", true.into());
        }
    }
    Value::Object(body)
}

pub(crate) fn edit_fields(
    request: &EditRequest,
    model: &str,
    quirks: ServerQuirks,
) -> Vec<(&'static str, String)> {
    let mut fields = vec![
        ("model", model.to_owned()),
        ("prompt", request.prompt.clone()),
        ("n", "1".to_owned()),
        ("size", format_size(&request.frame)),
    ];
    fields.extend(request.quality.map(|it| ("quality", it.to_owned())));
    if needs_explicit_base64(model) {
        fields.push(("response_format", "b64_json".to_owned()));
    }
    if quirks.takes_extensions {
        fields.push(("seed", picture::normalize_seed(request.seed).to_string()));
        fields.extend(request.frame.aspect_ratio.clone().map(|it| ("aspect_ratio", it)));
        fields.extend(request.frame.resolution.clone().map(|it| ("resolution", it)));
    }
    fields
}

#[derive(Deserialize)]
struct ImageAnswerBody {
    data: Option<Vec<ImageEntryBody>>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct ImageEntryBody {
    b64_json: Option<String>,
    url: Option<String>,
}

/// The image in a response: inline or at a URL.
#[derive(Debug)]
pub(crate) enum PictureLocation {
    Inline(String),
    At(String),
}

pub(crate) fn read_image(body: &[u8]) -> Result<PictureLocation, EngineError> {
    let answer: ImageAnswerBody = serde_json::from_slice(body)
        .map_err(|error| bad_answer(format!("it is not a list of pictures: {error}")))?;
    if let Some(error) = answer.error.filter(|error| !error.is_null()) {
        return Err(UpstreamFailure::from_value(&error).into_error());
    }
    let first = answer.data.into_iter().flatten().next();
    let first = first.ok_or_else(|| bad_answer("it has no image"))?;
    let inline = first.b64_json.filter(|it| !it.is_empty()).map(PictureLocation::Inline);
    let made = inline.or_else(|| first.url.filter(|it| !it.is_empty()).map(PictureLocation::At));
    made.ok_or_else(|| bad_answer("its picture is missing"))
}
