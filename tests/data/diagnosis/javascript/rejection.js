async function job() {
  throw new Error("the job failed");
}

job();
