//! Plans as data, and what finds them: what a front end shows, compares and asks for.

pub use rechunk_plan::count::pairs;
pub use rechunk_plan::{
    ArrayId, ArrayRole, Blend, Boundary, Budget, CodecSpeed, CodecSpeeds, Estimate,
    FILE_PIECE_BYTES, IntermediateGrid, Kernel, Levels, Multipart, OpSpec, PIECE_CHECKSUM_BYTES,
    PLAN_VERSION, Parts, PartsSide, Plan, PlanArray, PlanMemory, PlanRequest, Price, Profile,
    ProfileNames, RoleEstimate, RunsSide, Scale, ShardSide, Side, Stage, StageGeometry, StageInput,
    StageOutput, Steps, StoreProfile, Strategy, Unit, Uploads, Way, Window, Windowed,
    estimate_files, file_part_bytes, file_pieces, keep, part_bytes_max, piece_offset_elements,
    price_traffic, shard_state_bytes, units_within,
};
pub use rechunk_planner::{
    BOUNCE_BYTES, Candidate, CandidateOutcome, PlanError, Planned, RunsBaseline, baseline,
    cheapest, plan, runs_baseline,
};
