//! `GET /files/{file_id}/content`: the content of a file.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::JobCollector;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::PathParameters;
use http_frame::refusal::Refusal;
use http_frame::reply::file_content::FileContent;
use wire::files::FilePath;

use super::{find_file, refuse_file, refuse_unknown};

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/files/{file_id}/content", get_file_content)
        .tag("Files")
        .summary("Download a file")
        .refuses(404, "There is no such file")
        .build()
}

async fn get_file_content(
    app: SharedApp,
    call: ApiCall<JobCollector, PathParameters<FilePath>>,
) -> Result<FileContent, Refusal> {
    let (JobCollector(holder), PathParameters(path)) = (call.caller, call.input);
    let file = find_file(&app, &holder, &path.file_id).await?;
    let opened = app.batches.open_file(file).await.map_err(refuse_file)?;
    opened.map(FileContent).ok_or_else(|| refuse_unknown(&path.file_id))
}
