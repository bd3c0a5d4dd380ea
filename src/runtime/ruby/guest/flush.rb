# Unbuffers stdout, so that a killed program keeps its output.
$stdout.sync = true
