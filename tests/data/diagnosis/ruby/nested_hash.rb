sizes = {}
sizes[:ulm][:people] = 126
