//! `GET /files/{file_id}`: describes a file.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::JobCollector;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::PathParameters;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::files::{FileObject, FilePath};

use super::{find_file, to_wire};

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/files/{file_id}", get_file)
        .tag("Files")
        .summary("Get a file")
        .refuses(404, "There is no such file")
        .build()
}

async fn get_file(
    app: SharedApp,
    call: ApiCall<JobCollector, PathParameters<FilePath>>,
) -> Result<WithHeaders<FileObject>, Refusal> {
    let (JobCollector(holder), PathParameters(path)) = (call.caller, call.input);
    Ok(WithHeaders::new(to_wire(find_file(&app, &holder, &path.file_id).await?)))
}
