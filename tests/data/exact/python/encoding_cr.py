# Lines as on old Macs.
