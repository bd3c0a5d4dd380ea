x = “quoted”
